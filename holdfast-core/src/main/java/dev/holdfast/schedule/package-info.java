/** Recurring work: when it is due, and the slots that it fires in, each at most once. */
@NullMarked
package dev.holdfast.schedule;

import org.jspecify.annotations.NullMarked;
