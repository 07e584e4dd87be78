/** Isolated sets of jobs, one PostgreSQL schema each. */
@NullMarked
package dev.holdfast.tenant;

import org.jspecify.annotations.NullMarked;
