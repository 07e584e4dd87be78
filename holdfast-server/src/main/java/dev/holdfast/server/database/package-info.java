@NullMarked
package dev.holdfast.server.database;

import org.jspecify.annotations.NullMarked;
