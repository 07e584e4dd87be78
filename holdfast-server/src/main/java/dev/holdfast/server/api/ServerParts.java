package dev.holdfast.server.api;

import dev.holdfast.Holdfast;
import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.auth.Tokens;
import dev.holdfast.server.poll.Hints;
import dev.holdfast.server.poll.LongPolls;
import dev.holdfast.server.tenancy.OpenTenants;

/** The parts of the server that routes use. */
public record ServerParts(
    ServerConfig config,
    Holdfast holdfast,
    OpenTenants openTenants,
    Tokens tokens,
    LongPolls polls,
    RemoteWorkers workers,
    Hints hints) {}
