/** What a job is and what becomes of it: pure values and decisions, no database, no threads. */
@NullMarked
package dev.holdfast.job;

import org.jspecify.annotations.NullMarked;
