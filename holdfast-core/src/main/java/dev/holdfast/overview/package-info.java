/** A tenant at a glance, in figures that cost next to nothing however many jobs there are. */
@NullMarked
package dev.holdfast.overview;

import org.jspecify.annotations.NullMarked;
