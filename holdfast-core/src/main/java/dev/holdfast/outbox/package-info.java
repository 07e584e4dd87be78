/** Events for webhooks, written in the transactions that cause them. */
@NullMarked
package dev.holdfast.outbox;

import org.jspecify.annotations.NullMarked;
