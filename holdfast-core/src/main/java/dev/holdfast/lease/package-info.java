/** The right to run jobs: claiming, extending and finishing leases under a fence. */
@NullMarked
package dev.holdfast.lease;

import org.jspecify.annotations.NullMarked;
