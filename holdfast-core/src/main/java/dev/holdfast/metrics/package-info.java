/** Micrometer meters, for applications that have it. */
@NullMarked
package dev.holdfast.metrics;

import org.jspecify.annotations.NullMarked;
