/** Telling waiting workers that there may be work. Only hints: polling finds what a hint missed. */
@NullMarked
package dev.holdfast.wake;

import org.jspecify.annotations.NullMarked;
