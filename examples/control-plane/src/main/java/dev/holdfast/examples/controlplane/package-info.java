/** A small control plane: sites, environments and nodes, and the playbooks that work on them. */
@NullMarked
package dev.holdfast.examples.controlplane;

import org.jspecify.annotations.NullMarked;
