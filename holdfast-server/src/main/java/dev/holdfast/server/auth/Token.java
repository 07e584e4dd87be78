package dev.holdfast.server.auth;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** What is kept of a token: everything but itself. */
public record Token(
    UUID id,
    String name,
    Role role,
    Optional<String> tenant,
    Instant createdAt,
    Optional<Instant> expiresAt,
    Optional<Instant> revokedAt) {}
