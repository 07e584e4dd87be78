/** What went wrong, as one exception with a code. */
@NullMarked
package dev.holdfast.error;

import org.jspecify.annotations.NullMarked;
