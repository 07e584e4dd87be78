/** The server's own PostgreSQL, for installations that bring none. */
@NullMarked
package dev.holdfast.server.postgres;

import org.jspecify.annotations.NullMarked;
