/** What is compared: Holdfast, and others that queue jobs in the same PostgreSQL. */
@NullMarked
package dev.holdfast.bench.contender;

import org.jspecify.annotations.NullMarked;
