/** Whether the ground that jobs stand on is sound, and what to do where it is not. */
@NullMarked
package dev.holdfast.doctor;

import org.jspecify.annotations.NullMarked;
