/** Records of the application whose states follow their jobs. */
@NullMarked
package dev.holdfast.subject;

import org.jspecify.annotations.NullMarked;
