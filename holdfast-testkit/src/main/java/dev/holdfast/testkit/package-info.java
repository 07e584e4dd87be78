/** Tests jobs against a real PostgreSQL. */
@NullMarked
package dev.holdfast.testkit;

import org.jspecify.annotations.NullMarked;
