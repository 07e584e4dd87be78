/** Who did what, to what, and why. */
@NullMarked
package dev.holdfast.audit;

import org.jspecify.annotations.NullMarked;
