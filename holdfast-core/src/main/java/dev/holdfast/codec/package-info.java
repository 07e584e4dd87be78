/** Converts between Java values and the JSON that is stored. */
@NullMarked
package dev.holdfast.codec;

import org.jspecify.annotations.NullMarked;
