/** Runs handlers under leases, wherever the leases come from. */
@NullMarked
package dev.holdfast.worker;

import org.jspecify.annotations.NullMarked;
