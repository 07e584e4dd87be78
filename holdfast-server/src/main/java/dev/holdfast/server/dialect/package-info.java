/** Other systems' APIs, served to their clients as they are. */
@NullMarked
package dev.holdfast.server.dialect;

import org.jspecify.annotations.NullMarked;
