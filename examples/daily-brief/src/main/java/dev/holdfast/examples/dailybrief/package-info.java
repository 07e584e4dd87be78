/** An application whose three scheduled jobs Holdfast runs: read feeds, find events, clean up. */
@NullMarked
package dev.holdfast.examples.dailybrief;

import org.jspecify.annotations.NullMarked;
