/** Tokens, sessions and roles: who may do what. */
@NullMarked
package dev.holdfast.server.auth;

import org.jspecify.annotations.NullMarked;
