/**
 * Ends attempts in place of workers that fell silent, and passes on what they held. Knows for how
 * long nobody could have said anything.
 */
@NullMarked
package dev.holdfast.reap;

import org.jspecify.annotations.NullMarked;
