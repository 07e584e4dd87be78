/** A quick look whether Holdfast became slower than it was. */
@NullMarked
package dev.holdfast.bench.guard;

import org.jspecify.annotations.NullMarked;
