package dev.holdfast.server.api;

import dev.holdfast.tenant.TenantName;

/** The files of tenants. No transaction includes them. */
public interface TenantFiles {

  /**
   * Deletes those of a tenant that is dropped by now. Never throws: what cannot be deleted is
   * logged, and a tenant of the same name is not given it.
   */
  void delete(TenantName tenant);

  /**
   * Keeps what is left of a dropped tenant from a new one of its name. Throws where that is not
   * possible.
   */
  void setAside(TenantName tenant);
}
