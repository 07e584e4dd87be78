package dev.holdfast.server.api;

import dev.holdfast.Holdfast;
import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.auth.Tokens;
import dev.holdfast.server.poll.Hints;
import dev.holdfast.server.poll.LongPolls;
import dev.holdfast.server.tenancy.Desks;

/** What the routes are served with. */
public record Parts(
    ServerConfig config,
    Holdfast holdfast,
    Desks desks,
    Tokens tokens,
    LongPolls polls,
    RemoteWorkers workers,
    Hints hints) {}
