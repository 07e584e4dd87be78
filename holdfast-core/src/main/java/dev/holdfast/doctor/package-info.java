/** Checks of the database that jobs depend on, each with what to do about a problem. */
@NullMarked
package dev.holdfast.doctor;

import org.jspecify.annotations.NullMarked;
