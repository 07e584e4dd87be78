/** Other job queues for Java and PostgreSQL, each tuned as its own documentation recommends. */
@NullMarked
package dev.holdfast.bench.peer;

import org.jspecify.annotations.NullMarked;
