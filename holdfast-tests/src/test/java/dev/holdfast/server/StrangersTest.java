package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.auth.Tokens;
import dev.holdfast.tenant.TenantName;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whoever sends tokens that nobody has, or made-up signatures, cannot use up what those need who
 * have one.
 */
class StrangersTest {

  private static final int FLOOD = 60;

  @TempDir Path data;

  @Test
  void strangers_take_only_a_few_connections_however_many_they_are() throws Exception {
    try (OwnDatabase node = OwnDatabase.start(data);
        ExecutorService crowd = Executors.newVirtualThreadPerTaskExecutor()) {
      Tokens tokens = new Tokens(node.holdfast().tenants().control());
      List<Future<Integer>> flood = new ArrayList<>();
      try (Connection slow = node.dataSource().getConnection();
          Statement sql = slow.createStatement()) {
        slow.setAutoCommit(false);
        sql.execute("LOCK TABLE holdfast.token, holdfast.session IN ACCESS EXCLUSIVE MODE");
        for (int i = 0; i < FLOOD; i++) {
          Caller stranger = new Caller(node.port(), Optional.of(tokens.draw()), Optional.empty());
          String path = i % 2 == 0 ? "/api/v1/jobs" : "/ui/overview";
          flood.add(
              crowd.submit(() ->
                  (path.startsWith("/ui")
                          ? PlainHttp.at("http://127.0.0.1:" + node.port())
                              .with("Cookie", "holdfast_session=" + tokens.draw())
                              .get(path)
                          : stranger.get(path))
                      .status()));
        }
        awaitWaiting(sql);

        for (int i = 0; i < 5; i++) {
          assertThat(PlainHttp.at("http://127.0.0.1:" + node.port()).get("/readyz").status())
              .isEqualTo(200);
        }
        slow.rollback();
      }
      for (Future<Integer> each : flood) {
        assertThat(each.get()).isIn(401, 503); // those who waited for too long are to come again
      }
    }
  }

  @Test
  void strangers_who_name_a_tenant_take_only_a_few_connections_however_many_they_are()
      throws Exception {
    try (OwnDatabase node = OwnDatabase.start(data);
        ExecutorService crowd = Executors.newVirtualThreadPerTaskExecutor()) {
      node.holdfast().tenants().create(new TenantName("slow"));
      PlainHttp stranger = PlainHttp.at("http://127.0.0.1:" + node.port()).with("X-Auth-Sign", "x");
      CompletionService<Integer> answers = new ExecutorCompletionService<>(crowd);
      try (Connection slow = node.dataSource().getConnection();
          Statement sql = slow.createStatement()) {
        slow.setAutoCommit(false);
        sql.execute("LOCK TABLE holdfast_slow.migration IN ACCESS EXCLUSIVE MODE");
        for (int i = 0; i < FLOOD; i++) {
          boolean pulls = i % 2 == 0;
          answers.submit(() ->
              (pulls
                      ? stranger.get("/t/slow/api/pull_job")
                      : stranger.post("/t/slow/api/report_results", "{}"))
                  .status());
        }
        for (int i = 0; i < FLOOD - OwnDatabase.CONNECTIONS; i++) {
          assertThat(answers.take().get()).isEqualTo(503);
        }

        // Three for each of the two lines.
        assertThat(waitingForTenant(sql)).isBetween(1, 6);
        slow.rollback();
      }
      for (int i = 0; i < OwnDatabase.CONNECTIONS; i++) {
        assertThat(answers.take().get()).isIn(401, 503);
      }
      for (String tenant : List.of("slow", "nope")) {
        assertThat(stranger.get("/t/" + tenant + "/api/pull_job").status()).isEqualTo(401);
      }
    }
  }

  private static int waitingForTenant(Statement sql) throws Exception {
    try (var found =
        sql.executeQuery(
            "SELECT count(*) FROM pg_locks"
                + " WHERE NOT granted AND relation = 'holdfast_slow.migration'::regclass")) {
      assertThat(found.next()).isTrue();
      return found.getInt(1);
    }
  }

  private static void awaitWaiting(Statement sql) throws Exception {
    boolean some = false;
    while (!some) {
      try (var found = sql.executeQuery("SELECT count(*) >= 3 FROM pg_locks WHERE NOT granted")) {
        some = found.next() && found.getBoolean(1);
      }
    }
  }
}
