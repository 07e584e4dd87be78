package dev.holdfast.server.auth;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** What is stored of a token: everything but its secret. */
public record Token(
    UUID id,
    String name,
    Role role,
    Optional<String> tenant,
    Instant createdAt,
    Optional<Instant> expiresAt,
    Optional<Instant> revokedAt) {}
