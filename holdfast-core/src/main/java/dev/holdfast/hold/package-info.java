/** Who has which resource, who waits for it and what blocks it. */
@NullMarked
package dev.holdfast.hold;

import org.jspecify.annotations.NullMarked;
