package dev.holdfast.cli;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.tenant.TenantName;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Help;
import picocli.CommandLine.Option;

/** Which server, and who asks: the same options everywhere. */
final class Connection {

  @Option(
      names = "--server",
      defaultValue = "${env:HOLDFAST_SERVER:-http://127.0.0.1:8080}",
      description = "The server's address. Default: ${DEFAULT-VALUE}",
      showDefaultValue = Help.Visibility.NEVER,
      paramLabel = "URL")
  private String server = "";

  @Option(
      names = "--token-file",
      defaultValue = "${env:HOLDFAST_TOKEN_FILE:-holdfast-data/admin.token}",
      description = "Where the token is, unless $$HOLDFAST_TOKEN has it. Default: ${DEFAULT-VALUE}",
      showDefaultValue = Help.Visibility.NEVER,
      paramLabel = "FILE")
  private Path tokenFile = Path.of("");

  @Option(
      names = "--tenant",
      defaultValue = "${env:HOLDFAST_TENANT:-}",
      description = "The tenant, for a token that belongs to none.",
      showDefaultValue = Help.Visibility.NEVER,
      paramLabel = "NAME")
  private String tenant = "";

  String server() {
    return server;
  }

  /** For those who speak HTTP themselves. */
  Map<String, String> headers() {
    Map<String, String> headers = new HashMap<>();
    token().ifPresent(token -> headers.put("Authorization", "Bearer " + token));
    if (!tenant.isBlank()) {
      headers.put("X-Holdfast-Tenant", tenant);
    }
    return headers;
  }

  HoldfastClient client() {
    HoldfastClient client = HoldfastClient.at(server);
    client = token().map(client::withToken).orElse(client);
    return tenant.isBlank() ? client : client.withTenant(new TenantName(tenant));
  }

  // Without one the server says what it wants, and one with authentication off wants none.
  private Optional<String> token() {
    String given = System.getenv("HOLDFAST_TOKEN");
    if (given != null && !given.isBlank()) {
      return Optional.of(given.strip());
    }
    try {
      return Files.isReadable(tokenFile)
          ? Optional.of(Files.readString(tokenFile).strip())
          : Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + tokenFile, e);
    }
  }
}
