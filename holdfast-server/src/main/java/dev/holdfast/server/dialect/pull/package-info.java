/** Jobs that workers pull, and report on until they are done. */
@NullMarked
package dev.holdfast.server.dialect.pull;

import org.jspecify.annotations.NullMarked;
