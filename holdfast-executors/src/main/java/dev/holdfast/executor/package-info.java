/**
 * Kinds that come with their handlers: commands in processes of their own, playbooks, containers,
 * and HTTP calls.
 */
@NullMarked
package dev.holdfast.executor;

import org.jspecify.annotations.NullMarked;
