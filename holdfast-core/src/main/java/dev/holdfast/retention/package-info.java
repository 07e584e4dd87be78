/** How long history is kept, and its removal. */
@NullMarked
package dev.holdfast.retention;

import org.jspecify.annotations.NullMarked;
