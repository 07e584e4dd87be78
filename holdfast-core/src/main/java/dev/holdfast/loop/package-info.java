/**
 * Background work as objects with {@code runOnce}, the only place that starts platform threads; and
 * what threads do for each other.
 */
@NullMarked
package dev.holdfast.loop;

import org.jspecify.annotations.NullMarked;
