/** The {@code holdfast} command. */
@NullMarked
package dev.holdfast.cli;

import org.jspecify.annotations.NullMarked;
