/** The server: the engine for everyone who speaks HTTP. */
@NullMarked
package dev.holdfast.server;

import org.jspecify.annotations.NullMarked;
