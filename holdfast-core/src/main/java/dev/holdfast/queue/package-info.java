/** Enqueues jobs, reads them, and performs what people do to them. */
@NullMarked
package dev.holdfast.queue;

import org.jspecify.annotations.NullMarked;
