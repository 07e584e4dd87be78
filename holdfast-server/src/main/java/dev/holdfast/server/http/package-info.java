/** Requests and answers, and the one table of routes. */
@NullMarked
package dev.holdfast.server.http;

import org.jspecify.annotations.NullMarked;
