package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Kind;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.Tools;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A database whose disk is full refuses what it cannot keep, and goes on when there is room. */
@Timeout(300)
class FullDiskTest {

  private static final String BALLAST = "ballast";
  private static final int ROOM = 6_000_000;
  private static final int MOST_REFUSED = 10;
  private static final String JOB =
      "{\"kind\": \"large\", \"args\": {\"text\": \"%s\"}}".formatted(noise(200_000));

  private static final Kind<Object> LONG = Kind.of("long", Object.class);

  // Attempts enough for each time that it loses its lease.
  private static final String HELD =
      "{\"kind\": \"long\", \"lease_seconds\": 8, \"max_attempts\": 20}";

  @TempDir Path directory;

  @Test
  void a_full_disk_is_said_clearly_loses_nothing_and_is_got_over_by_itself() throws Exception {
    Path disk = Files.createDirectory(directory.resolve("disk"));
    Tools.require(
        run("mount", "-t", "tmpfs", "-o", "size=300m", "holdfast-test", disk.toString()) == 0,
        "we may mount, and so limit a disk");
    try {
      fillAndMakeRoom(disk);
    } finally {
      assertThat(run("umount", disk.toString())).isZero();
    }
  }

  private static void fillAndMakeRoom(Path disk) throws Exception {
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch room = new CountDownLatch(1);
    AtomicInteger runs = new AtomicInteger();
    try (OwnDatabase server = OwnDatabase.start(disk);
        Worker worker =
            server
                .holdfast()
                .worker()
                .handle(
                    LONG,
                    (nothing, job) -> {
                      runs.incrementAndGet();
                      began.countDown();
                      room.await();
                    })
                .start();
        // Or a check that fails is not heard of, because the worker waits for its handler.
        AutoCloseable makeRoom =
            () -> {
              Files.deleteIfExists(disk.resolve(BALLAST));
              room.countDown();
            }) {
      Caller caller =
          new Caller(server.port(), Optional.of(TestServer.tokenIn(disk)), Optional.empty());
      List<String> acknowledged = new ArrayList<>();
      acknowledged.add(id(caller.post("/api/v1/jobs", JOB)));
      String held = id(caller.post("/api/v1/jobs", HELD));
      acknowledged.add(held);
      began.await();
      Path ballast = fill(disk);

      Set<String> codes = new TreeSet<>();
      for (int refused = 0; refused < MOST_REFUSED; ) {
        Reply reply = caller.post("/api/v1/jobs", JOB);
        if (reply.status() == 201) {
          acknowledged.add(id(reply));
        } else {
          assertThat(reply.status()).as(reply.text()).isEqualTo(503);
          codes.add(reply.json().path("code").asString());
          refused++;
        }
      }
      assertThat(codes).contains("DISK_FULL").isSubsetOf("DISK_FULL", "DATABASE");
      assertThat(caller.get("/healthz").status()).isEqualTo(200);

      Files.delete(ballast);
      acknowledged.add(id(untilItIsTaken(caller)));
      room.countDown();
      assertThat(succeeded(caller, held))
          .as("successes of %s after %d runs by %s", held, runs.get(), worker.name())
          .isOne();

      assertThat(caller.get("/readyz").status()).isEqualTo(200);
      assertThat(acknowledged).allMatch(id -> caller.get("/api/v1/jobs/" + id).status() == 200);
      assertThat(server.holdfast().invariants().check()).isEmpty();
    }
  }

  // It may have to start its database again; how long that takes is not what is tested. Meanwhile
  // each request waits for a connection itself, as long as its pool lets it.
  private static Reply untilItIsTaken(Caller caller) {
    Reply reply = caller.post("/api/v1/jobs", JOB);
    while (reply.status() == 503) {
      reply = caller.post("/api/v1/jobs", JOB);
    }
    return reply;
  }

  /**
   * How many attempts of a job are recorded as a success, once it has come to its end. Whether it
   * kept its lease or lost it and was run again depends on how long there was no room.
   */
  private static long succeeded(Caller caller, String id) {
    Reply reply = caller.get("/api/v1/jobs/" + id);
    while (reply.status() == 503 || !reply.json().path("state").asString().equals("succeeded")) {
      assertThat(reply.text()).doesNotContain("\"failed\"");
      reply = caller.get("/api/v1/jobs/" + id);
    }
    long count = 0;
    for (JsonNode attempt :
        caller.get("/api/v1/jobs/" + id + "/attempts").json().path("attempts")) {
      count += attempt.path("outcome").asString().equals("succeeded") ? 1 : 0;
    }
    return count;
  }

  private static String id(Reply reply) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(201);
    return reply.json().path("id").asString();
  }

  private static Path fill(Path disk) throws IOException {
    Path ballast = disk.resolve(BALLAST);
    byte[] block = new byte[1_000_000];
    try (OutputStream out = Files.newOutputStream(ballast)) {
      while (Files.getFileStore(disk).getUsableSpace() > ROOM) {
        out.write(block);
      }
    }
    return ballast;
  }

  // What can be compressed would take no room.
  private static String noise(int length) {
    StringBuilder text = new StringBuilder();
    new java.util.Random(7)
        .ints(length, 0, 62)
        .forEach(index ->
            text.append(
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".charAt(index)));
    return text.toString();
  }

  private static int run(String... command) throws Exception {
    return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor();
  }
}
