/** Which jobs hold which resources, which jobs wait for them, and what blocks them. */
@NullMarked
package dev.holdfast.hold;

import org.jspecify.annotations.NullMarked;
