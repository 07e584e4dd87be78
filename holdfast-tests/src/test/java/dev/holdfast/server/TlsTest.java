package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.http.Tls;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server whose certificate cannot be used says which files it was given. */
class TlsTest {

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(strings = {"AAAAA", "no key at all", "AAAA", ""})
  void a_key_that_is_none_is_refused_by_its_name(String base64) throws IOException {
    Path key =
        Files.writeString(
            directory.resolve("key.pem"),
            "-----BEGIN PRIVATE KEY-----\n" + base64 + "\n-----END PRIVATE KEY-----\n");
    Path certificate = Files.createFile(directory.resolve("certificate.pem"));
    ServerConfig config =
        ServerConfig.defaults(directory)
            .withAddress("127.0.0.1", 0)
            .withRoles(Set.of(ServerRole.WEB))
            .withUpkeep(false)
            .withTls(new Tls(certificate, key));

    assertThatThrownBy(() ->
            HoldfastServer.start(config, TestDatabase.shared().dataSource(), Map.of()).close())
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining(certificate.toString())
        .hasMessageContaining(key.toString());
  }
}
