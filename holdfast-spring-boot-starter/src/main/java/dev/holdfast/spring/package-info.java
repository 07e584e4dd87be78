/** Holdfast in Spring applications. */
@NullMarked
package dev.holdfast.spring;

import org.jspecify.annotations.NullMarked;
