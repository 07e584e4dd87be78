/** Runs handlers under leases, whatever the leases come from. */
@NullMarked
package dev.holdfast.worker;

import org.jspecify.annotations.NullMarked;
