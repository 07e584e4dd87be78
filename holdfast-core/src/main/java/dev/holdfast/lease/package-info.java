/** The right to run: claiming, extending and finishing under a fence. */
@NullMarked
package dev.holdfast.lease;

import org.jspecify.annotations.NullMarked;
