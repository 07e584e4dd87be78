package dev.holdfast.tenant;

/** One tenant: its name, and access to its tables. */
public record Tenant(TenantName name, Db db) {}
