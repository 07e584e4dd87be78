/**
 * Remote agents that run containers and share a directory with the server. The database decides;
 * {@code docs/dialects.md} says how its files follow.
 */
@NullMarked
package dev.holdfast.server.dialect.agents;

import org.jspecify.annotations.NullMarked;
