/** What others want to be told, written down in the transactions that cause it. */
@NullMarked
package dev.holdfast.outbox;

import org.jspecify.annotations.NullMarked;
