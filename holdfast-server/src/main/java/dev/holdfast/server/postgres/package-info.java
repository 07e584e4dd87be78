/** A PostgreSQL of the server's own, for those who have none. */
@NullMarked
package dev.holdfast.server.postgres;

import org.jspecify.annotations.NullMarked;
