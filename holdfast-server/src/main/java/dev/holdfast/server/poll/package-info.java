/** Long-polls: requests of workers that wait for work. */
@NullMarked
package dev.holdfast.server.poll;

import org.jspecify.annotations.NullMarked;
