/** The server: the engine over HTTP. */
@NullMarked
package dev.holdfast.server;

import org.jspecify.annotations.NullMarked;
