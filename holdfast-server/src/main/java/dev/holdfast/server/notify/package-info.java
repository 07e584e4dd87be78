/** Telling others by HTTP. */
@NullMarked
package dev.holdfast.server.notify;

import org.jspecify.annotations.NullMarked;
