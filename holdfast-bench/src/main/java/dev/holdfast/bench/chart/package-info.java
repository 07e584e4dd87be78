/** What a run found, drawn as SVG without any library. */
@NullMarked
package dev.holdfast.bench.chart;

import org.jspecify.annotations.NullMarked;
