/** The ledger of slots: what became of every moment at which a schedule was due. */
@NullMarked
package dev.holdfast.slot;

import org.jspecify.annotations.NullMarked;
