/** What the server knows and has of each tenant. */
@NullMarked
package dev.holdfast.server.tenancy;

import org.jspecify.annotations.NullMarked;
