@NullMarked
package dev.holdfast.bench.guard;

import org.jspecify.annotations.NullMarked;
