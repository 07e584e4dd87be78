package dev.holdfast.soak;

import dev.holdfast.api.Because;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.api.Json;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.queue.JobFilter;
import dev.holdfast.tenant.TenantName;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import tools.jackson.databind.node.ObjectNode;

/**
 * All that people and programs do with a server, each at its own pace, until closed. Half of some
 * of it goes to a node that comes and goes: what that one does not answer is counted and forgotten.
 * The one that lasts has to answer, and as it is expected to.
 */
final class Traffic implements AutoCloseable {

  private static final Because WHY = Because.of("soak");
  private static final int TENANTS = 10; // whose names come again

  private final HoldfastClient lasting;
  private final Supplier<HoldfastClient> other;
  private final Sink sink;
  private final Tally tally;
  private final ScheduledExecutorService clock =
      Executors.newScheduledThreadPool(4, Thread.ofVirtual().factory());
  private final AtomicInteger tenants = new AtomicInteger();

  Traffic(HoldfastClient lasting, Supplier<HoldfastClient> other, Sink sink, Tally tally) {
    this.lasting = lasting;
    this.other = other;
    this.sink = sink;
    this.tally = tally;
  }

  void start(Visits visits) {
    schedule("beat");
    webhook("soak");
    playbook();
    anywhere(200, Feature.JOBS_IN_BULK, client -> client.enqueueAll(Work.plain(40)));
    every(100, Feature.JOBS_WITH_RESOURCES, () -> lasting.enqueue(Work.keyed()));
    anywhere(300, Feature.JOBS_OF_TARGETS, client -> client.enqueue(Work.onTarget()));
    again(500, Feature.JOBS_MADE_ONCE, this::once);
    again(1_000, Feature.JOBS_RESOLVED, this::resolve);
    every(1_000, Feature.JOBS_FOR_THE_IDLE, () -> lasting.enqueue(Work.seldom()));
    every(500, Feature.PAUSES_RESUMES_AND_CANCELS, this::acts);
    every(2_000, Feature.COMMANDS, () -> lasting.enqueue(Work.command("commands")));
    anywhere(2_000, Feature.AGENTS_COMMANDS, client -> client.enqueue(Work.command(Work.ON_AGENT)));
    every(4_000, Feature.CONTAINERS, () -> lasting.enqueue(Work.container()));
    every(8_000, Feature.PLAYBOOKS, () -> lasting.enqueue(Work.playbook()));
    again(2_000, Feature.CALLS, this::call);
    every(15_000, Feature.TENANTS_MADE_AND_DROPPED, this::tenant);
    every(3_000, Feature.TOKENS_DRAWN_AND_REVOKED, this::token);
    visits.all().forEach((what, visit) -> every(1_000, what, visit));
  }

  /** At the one that lasts or at the other one, by the dice. */
  private void anywhere(long millis, Feature what, Consumer<HoldfastClient> action) {
    again(
        millis,
        what,
        () -> {
          if (Work.dice().nextBoolean()) {
            return tryOther(action);
          }
          action.accept(lasting);
          return 1;
        });
  }

  private int tryOther(Consumer<HoldfastClient> action) {
    try {
      action.accept(other.get());
      return 1;
    } catch (HoldfastException e) {
      tally.unanswered();
      return 0;
    }
  }

  private void every(long millis, Feature what, Runnable action) {
    again(
        millis,
        what,
        () -> {
          action.run();
          return 1;
        });
  }

  /** Counts as often as it says that it was really done. */
  private void again(long millis, Feature what, Supplier<Integer> action) {
    var unused =
        clock.scheduleWithFixedDelay(
            () -> tried(what, action), millis, millis, TimeUnit.MILLISECONDS);
  }

  private void tried(Feature what, Supplier<Integer> action) {
    try {
      tally.count(what, action.get());
    } catch (RuntimeException e) {
      if (hasNoAnswer(e)) {
        tally.missed(what, e);
      } else {
        tally.surprise(what, e);
      }
    }
  }

  // A server's own refusal has no cause, and the same code when it says that it failed.
  private static boolean hasNoAnswer(RuntimeException e) {
    return e.getCause() instanceof HttpTimeoutException
        || (e instanceof HoldfastException ours
            && ours.code() == ErrorCode.UNAVAILABLE
            && ours.getCause() != null);
  }

  // Of two with the same key the second is the first, as long as that waits.
  private int once() {
    NewJob job = Work.unique();
    UUID first = lasting.enqueue(job).id();
    return lasting.enqueue(job).id().equals(first) ? 1 : 0;
  }

  // The receiver counts those that came.
  private int call() {
    lasting.enqueue(Work.call(sink.url("/called")));
    return 0;
  }

  private int resolve() {
    JobFilter standing =
        new JobFilter(
            Set.of(JobState.FAILED, JobState.PAUSED),
            Optional.of(Work.TARGETS),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());
    List<Job> jobs = lasting.list(standing, 50).jobs();
    for (Job job : jobs) {
      lasting.resolve(job.id(), Map.of("by", "hand"), WHY);
    }
    return jobs.size();
  }

  private void acts() {
    UUID id = lasting.enqueue(Work.KIND.job(new Work(0)).withDelay(Duration.ofHours(1))).id();
    lasting.pause(id, WHY);
    lasting.resume(id, WHY);
    lasting.cancel(id, WHY);
    lasting.retry(id, WHY);
    // A worker may have done it meanwhile.
    boolean unused = isTaken(() -> lasting.cancel(id, WHY));
  }

  /** False when the state of things does not allow it. */
  private static boolean isTaken(Runnable action) {
    try {
      action.run();
      return true;
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.STATE_CONFLICT) {
        throw e;
      }
      return false;
    }
  }

  private void tenant() {
    String name = "soak_" + tenants.incrementAndGet() % TENANTS;
    lasting.ask("POST", "/tenants", Map.of(), Optional.of(Json.object().put("name", name)));
    HoldfastClient tenant = lasting.withTenant(new TenantName(name));
    if (!isTaken(() -> tenant.enqueueAll(Work.plain(5)))) {
      tenant.enqueueAll(Work.plain(5)); // the server knew an earlier one, and says so once
    }
    lasting.ask("DELETE", "/tenants/" + name, Map.of(), Optional.empty());
  }

  private void token() {
    ObjectNode wanted = Json.object().put("name", "soak").put("role", "viewer");
    ObjectNode drawn =
        lasting.ask("POST", "/tokens", Map.of(), Optional.of(wanted.put("tenant", "default")));
    lasting.ask("DELETE", "/tokens/" + drawn.path("id").asString(), Map.of(), Optional.empty());
  }

  private void schedule(String name) {
    ObjectNode wanted = Json.object().put("every_seconds", 1).put("kind", Work.TICK.name());
    wanted.putObject("args").put("outOfTen", 0);
    lasting.ask("PUT", "/schedules/" + name, Map.of(), Optional.of(wanted));
  }

  private void playbook() {
    ObjectNode here = Json.object().put("host", "localhost").put("connection", "local");
    lasting.ask("PUT", "/nodes/" + Work.NODE, Map.of(), Optional.of(here));
    ObjectNode kind = Json.object().put("executor", "ansible").put("playbook", SoakRun.PLAYBOOK);
    lasting.ask(
        "PUT", "/kinds/" + Work.PLAYBOOK, Map.of(), Optional.of(kind.put("node_targeted", true)));
  }

  private void webhook(String name) {
    ObjectNode wanted =
        Json.object().put("url", sink.url("/hook")).put("secret", "of the soak alone");
    wanted.putArray("events").add("job_failed");
    lasting.ask("PUT", "/webhooks/" + name, Map.of(), Optional.of(wanted));
  }

  @Override
  public void close() throws InterruptedException {
    clock.shutdown(); // what is under way comes to its end
    if (!clock.awaitTermination(1, TimeUnit.MINUTES)) {
      throw new IllegalStateException("somebody is still at it after a minute");
    }
  }
}
