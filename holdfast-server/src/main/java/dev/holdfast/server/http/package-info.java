/** The HTTP server: requests, answers, and the route table. */
@NullMarked
package dev.holdfast.server.http;

import org.jspecify.annotations.NullMarked;
