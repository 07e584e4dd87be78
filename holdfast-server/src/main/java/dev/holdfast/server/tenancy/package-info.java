/** The services, registries and settings of each tenant. */
@NullMarked
package dev.holdfast.server.tenancy;

import org.jspecify.annotations.NullMarked;
