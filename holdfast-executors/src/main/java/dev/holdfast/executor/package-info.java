/** Kinds with built-in handlers: commands, playbooks, containers, and HTTP calls. */
@NullMarked
package dev.holdfast.executor;

import org.jspecify.annotations.NullMarked;
