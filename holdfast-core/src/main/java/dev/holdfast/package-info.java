/** Durable job execution for Java and PostgreSQL. */
@NullMarked
package dev.holdfast;

import org.jspecify.annotations.NullMarked;
