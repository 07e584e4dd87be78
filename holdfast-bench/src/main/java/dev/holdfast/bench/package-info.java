/** Measurements of Holdfast, and proofs of its promises. */
@NullMarked
package dev.holdfast.bench;

import org.jspecify.annotations.NullMarked;
