/** Whether anything grows that should not, however long it runs. */
@NullMarked
package dev.holdfast.soak;

import org.jspecify.annotations.NullMarked;
