/** The traces that jobs belong to. */
@NullMarked
package dev.holdfast.tracing;

import org.jspecify.annotations.NullMarked;
