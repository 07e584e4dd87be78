package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Logs that agents write and others follow. */
@Covers("C8")
class AgentLogsTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();
  private Fleet fleet;
  private String id;
  private Path log;

  @BeforeEach
  void gather() throws IOException {
    fleet = new Fleet(TestServer.open(), tenant);
    fleet.submit();
    id = fleet.running("a");
    log = fleet.file("jobs/" + id + "/logs/" + id + ".log");
    Files.createDirectories(log.getParent());
  }

  @Test
  void a_log_is_what_is_in_the_file_and_none_is_not_found() throws IOException {
    assertThat(fleet.caller().get("/logs/" + id).status()).isEqualTo(404);
    Files.writeString(log, "one\n<script>\ntwö\n");

    for (String path : new String[] {"/logs/", "/file-logs/"}) {
      Reply reply = fleet.caller().get(path + id);
      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.contentType()).isEqualToIgnoringCase("text/plain;charset=utf-8");
      assertThat(reply.text()).isEqualTo("one\n<script>\ntwö\n");
    }
    assertThat(fleet.caller().get("/logs/" + id + "?offset=4").text()).startsWith("<script>");
    assertThat(fleet.caller().get("/logs/" + id + "?offset=4000").text()).isEmpty();
    assertThat(fleet.caller().get("/logs/" + id + "?offset=-1").status()).isEqualTo(400);
    assertThat(fleet.caller().get("/logs/" + id + "?follow=perhaps").status()).isEqualTo(400);
  }

  @Test
  void who_follows_gets_what_is_added_through_truncation_and_rotation_to_the_jobs_end()
      throws Exception {
    Files.writeString(log, "one\n");
    try (BufferedReader reader = follow()) {
      assertThat(reader.readLine()).isEqualTo("one");
      Files.writeString(log, "two\n", StandardOpenOption.APPEND);
      assertThat(reader.readLine()).isEqualTo("two");

      Files.writeString(log, "3\n"); // cut short, and written anew
      assertThat(reader.readLine()).isEqualTo("3");

      Files.writeString(log, "last of the old\n", StandardOpenOption.APPEND);
      Files.move(log, log.resolveSibling("old.log"));
      Files.writeString(log, "first of the new\n");
      assertThat(reader.readLine()).isEqualTo("last of the old");
      assertThat(reader.readLine()).isEqualTo("first of the new");

      Files.writeString(log, "the end\n", StandardOpenOption.APPEND);
      fleet.report("a", id, "finished");
      assertThat(reader.readLine()).isEqualTo("the end");
      assertThat(reader.readLine()).isNull();
    }
  }

  private BufferedReader follow() throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create(
                    "http://127.0.0.1:%d/t/%s/logs/%s?follow=true"
                        .formatted(TestServer.open().port(), tenant.name().value(), id)))
            .build();
    HttpResponse<InputStream> answer =
        HttpClient.newHttpClient().send(request, BodyHandlers.ofInputStream());
    assertThat(answer.statusCode()).isEqualTo(200);
    return new BufferedReader(new InputStreamReader(answer.body(), UTF_8));
  }

  @Test
  void a_log_without_end_is_cut_and_says_so() throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "rw")) {
      file.setLength((64L << 20) + 10); // sparse
    }

    String text = fleet.caller().get("/logs/" + id).text();

    assertThat(text.length()).isBetween(64 << 20, (64 << 20) + 200);
    assertThat(text).endsWith("(cut after 67108864 bytes; go on with ?offset=)\n");
  }

  @Test
  void a_link_in_place_of_the_log_is_no_log(@TempDir Path outside) throws IOException {
    Path secret = Files.writeString(outside.resolve("secret"), "secret");
    Files.createSymbolicLink(log, secret);

    assertThat(fleet.caller().get("/logs/" + id).status()).isEqualTo(404);
  }
}
