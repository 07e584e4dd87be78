/** The native API, route by route. */
@NullMarked
package dev.holdfast.server.api;

import org.jspecify.annotations.NullMarked;
