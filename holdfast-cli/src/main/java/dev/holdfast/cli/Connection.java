package dev.holdfast.cli;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.tenant.TenantName;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Options that name the server and the caller, the same for all commands. */
final class Connection {

  private static final String TOKEN_FILE = "--token-file";

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec spec;

  @Option(
      names = "--server",
      defaultValue = "${env:HOLDFAST_SERVER:-http://127.0.0.1:8080}",
      description = "The server's address. Default: ${DEFAULT-VALUE}",
      showDefaultValue = Help.Visibility.NEVER,
      paramLabel = "URL")
  private String server = "";

  @Option(
      names = TOKEN_FILE,
      defaultValue = "${env:HOLDFAST_TOKEN_FILE:-${env:HOLDFAST_DATA:-holdfast-data}/admin.token}",
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

  /**
   * The file with the token. The default file belongs to a server on this machine, so it is used
   * only for a server on this machine; no other server may see that token.
   */
  Optional<Path> tokenFile() {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets it");
    boolean named =
        System.getenv("HOLDFAST_TOKEN_FILE") != null
            || command.commandLine().getParseResult().hasMatchedOption(TOKEN_FILE);
    return named || isHere(server) ? Optional.of(tokenFile) : Optional.empty();
  }

  // Only addresses of this machine, and no name that could be made to point elsewhere.
  private static boolean isHere(String server) {
    String bare;
    try {
      bare = String.valueOf(new URI(server).getHost()).replaceAll("[\\[\\]]", "");
    } catch (URISyntaxException e) {
      return false; // the client reports it
    }
    return bare.equalsIgnoreCase("localhost")
        || bare.matches("127(\\.\\d{1,3}){3}")
        || bare.equals("::1")
        || bare.equals("0:0:0:0:0:0:0:1");
  }

  /** For code that sends HTTP requests itself. */
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

  // Without a token, the server says what it needs; a server with authentication off needs none.
  private Optional<String> token() {
    String given = System.getenv("HOLDFAST_TOKEN");
    if (given != null && !given.isBlank()) {
      return Optional.of(given.strip());
    }
    Optional<Path> file = tokenFile().filter(Files::isReadable);
    try {
      return file.isPresent()
          ? Optional.of(Files.readString(file.get()).strip())
          : Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + tokenFile, e);
    }
  }
}
