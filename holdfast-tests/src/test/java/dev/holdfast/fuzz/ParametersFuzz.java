package dev.holdfast.fuzz;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.job.TraceContext;
import dev.holdfast.server.AgentSettings;
import dev.holdfast.server.http.Networks;
import dev.holdfast.server.tenancy.Webhook;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Words of addresses, headers and settings: ids, moments, lengths of time, traces, tenants,
 * networks, where webhooks lead. Each is read by every reader.
 */
public final class ParametersFuzz implements FuzzTarget {

  private interface Reader {
    void read(String text) throws Exception;
  }

  public static void fuzzerTestOneInput(byte[] data) {
    FuzzTarget.run(new ParametersFuzz(), data);
  }

  @Override
  public List<String> seeds() {
    return List.of(
        "00000000-0000-4000-8000-000000000000",
        "2026-11-17T09:00:00Z",
        "+290000-01-01T00:00:00Z",
        "1.5",
        "1e308",
        "-0",
        "-1",
        "9223372036854775807",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7",
        "default",
        "tenant_1",
        "10.0.0.0/8",
        "fe80::/10",
        "https://example.org:8443/hook?a=b",
        "host-1.example");
  }

  @Override
  public void read(String text) throws Exception {
    List<Reader> readers =
        List.of(
            ParametersFuzz::id,
            ParametersFuzz::moment,
            ParametersFuzz::seconds,
            ParametersFuzz::trace,
            ParametersFuzz::tenant,
            ParametersFuzz::host,
            given -> new Networks("setting", Set.of(given)),
            given -> new Webhook("a", given, Set.of(Webhook.Event.JOB_FAILED), "a secret of ours"));
    for (Reader reader : readers) {
      try {
        reader.read(text);
      } catch (dev.holdfast.error.HoldfastException e) {
        FuzzTarget.check(!String.valueOf(e.getMessage()).isBlank(), "a refusal says why");
      }
    }
  }

  private static void id(String text) {
    UUID id = Fields.uuid("id", text);
    FuzzTarget.check(id.toString().equalsIgnoreCase(text), "an id in full: " + text);
  }

  private static void moment(String text) {
    Instant moment = Fields.instant("at", text);
    FuzzTarget.check(Fields.instant("at", moment.toString()).equals(moment), "again: " + text);
  }

  private static void seconds(String text) {
    Optional<Duration> length =
        Fields.of("body", Json.parse("body", "{\"s\": " + text + "}")).optionalSeconds("s");
    length.ifPresent(
        given -> FuzzTarget.check(!given.isNegative() && given.toDays() <= 3_660, "in range"));
  }

  private static void trace(String text) {
    TraceContext.ofHeaders(Optional.of(text), Optional.of(text))
        .ifPresent(trace -> {
          FuzzTarget.check(trace.traceId().matches("[0-9a-f]{32}"), "an id: " + text);
          FuzzTarget.check(trace.parent().chars().allMatch(c -> c > ' ' && c < 127), "a header");
        });
  }

  private static void tenant(String text) {
    TenantName tenant = new TenantName(text);
    FuzzTarget.check(tenant.value().matches("[a-z0-9_]+"), "a part of a schema's name: " + text);
  }

  private static void host(String text) {
    FuzzTarget.check(
        !AgentSettings.isHost(text) || text.matches("[A-Za-z0-9_][A-Za-z0-9_.:@+-]{0,127}"),
        "a part of a file's name: " + text);
    FuzzTarget.check(
        !AgentSettings.isHost(text) || (!text.equals("..") && !text.equals(".")), "no directory");
  }
}
