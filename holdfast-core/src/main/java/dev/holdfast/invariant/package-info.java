/** Checks of rules that must never be broken. */
@NullMarked
package dev.holdfast.invariant;

import org.jspecify.annotations.NullMarked;
