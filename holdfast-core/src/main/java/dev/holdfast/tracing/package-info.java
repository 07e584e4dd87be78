/** Lets jobs continue the traces in which they were enqueued. */
@NullMarked
package dev.holdfast.tracing;

import org.jspecify.annotations.NullMarked;
