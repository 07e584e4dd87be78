package dev.holdfast.tenant;

/** One tenant: its name, and the way to its tables. */
public record Tenant(TenantName name, Db db) {}
