/** Checks of everything but the database: the machine, and how the node was started. */
@NullMarked
package dev.holdfast.server.doctor;

import org.jspecify.annotations.NullMarked;
