/** What must never be, and whether it is. */
@NullMarked
package dev.holdfast.invariant;

import org.jspecify.annotations.NullMarked;
