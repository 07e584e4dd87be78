/**
 * A machine that runs work for a server: a worker over HTTP with executors, which remembers what it
 * has begun.
 */
@NullMarked
package dev.holdfast.agent;

import org.jspecify.annotations.NullMarked;
