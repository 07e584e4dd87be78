/** What a run found, put together for people and programs. */
@NullMarked
package dev.holdfast.bench.report;

import org.jspecify.annotations.NullMarked;
