/** Figures that show the state of a tenant, at little cost however many jobs there are. */
@NullMarked
package dev.holdfast.overview;

import org.jspecify.annotations.NullMarked;
