/**
 * Background work as objects with {@code runOnce}, the only package that starts platform threads;
 * and work that one thread does for others.
 */
@NullMarked
package dev.holdfast.loop;

import org.jspecify.annotations.NullMarked;
