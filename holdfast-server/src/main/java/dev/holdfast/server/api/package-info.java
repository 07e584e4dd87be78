/** The routes of the native API. */
@NullMarked
package dev.holdfast.server.api;

import org.jspecify.annotations.NullMarked;
