package dev.holdfast.server.api;

import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.server.http.Refusal;

/** Refuses workers that nobody knows where a tenant has as many as it may. */
public final class Newcomers {

  private Newcomers() {}

  /**
   * Throws for a worker that was not admitted.
   *
   * @param field in which the worker says its name
   */
  public static void check(String field, boolean admitted) {
    if (!admitted) {
      throw Refusal.of(
          429,
          "TOO_MANY_WORKERS",
          "%s is a new name, and this tenant has %d workers; one that is silent for a day is forgotten"
              .formatted(field, RemoteWorkers.MOST));
    }
  }
}
