/** Jobs of targets: one at a time on each, paused and resumed by people. */
@NullMarked
package dev.holdfast.server.dialect.targets;

import org.jspecify.annotations.NullMarked;
