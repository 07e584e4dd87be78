/** Records of the application's world that move with their jobs. */
@NullMarked
package dev.holdfast.subject;

import org.jspecify.annotations.NullMarked;
