/** The workers, wherever they run, and the hosts they are on. */
@NullMarked
package dev.holdfast.fleet;

import org.jspecify.annotations.NullMarked;
