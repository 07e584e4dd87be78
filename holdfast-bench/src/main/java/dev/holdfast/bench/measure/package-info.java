/** The database under test, what a run cost it and us, and what came out. */
@NullMarked
package dev.holdfast.bench.measure;

import org.jspecify.annotations.NullMarked;
