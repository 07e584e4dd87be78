/** Directories that others write to as well, and are not trusted. */
@NullMarked
package dev.holdfast.executor.files;

import org.jspecify.annotations.NullMarked;
