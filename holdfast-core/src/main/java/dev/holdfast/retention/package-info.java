/** How long what is over is kept. */
@NullMarked
package dev.holdfast.retention;

import org.jspecify.annotations.NullMarked;
