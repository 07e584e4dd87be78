/** Webhooks and their deliveries, and the inspection of invariants. */
@NullMarked
package dev.holdfast.server.notify;

import org.jspecify.annotations.NullMarked;
