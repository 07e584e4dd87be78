/** Putting jobs in, looking at them, and acting on them from outside. */
@NullMarked
package dev.holdfast.queue;

import org.jspecify.annotations.NullMarked;
