/** Access to directories to which others, who are not trusted, write as well. */
@NullMarked
package dev.holdfast.executor.files;

import org.jspecify.annotations.NullMarked;
