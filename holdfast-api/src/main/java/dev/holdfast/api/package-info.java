/** Holdfast over HTTP: its JSON, and a client that speaks it. */
@NullMarked
package dev.holdfast.api;

import org.jspecify.annotations.NullMarked;
