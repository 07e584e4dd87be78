package dev.holdfast.soak;

import dev.holdfast.api.Because;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Item;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Progress;
import dev.holdfast.queue.JobFilter;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import tools.jackson.databind.node.ObjectNode;

/**
 * All that people and programs do with a server, each at its own pace, until closed. Half of it
 * goes to a node that comes and goes; what that does not answer is counted and forgotten.
 */
final class Traffic implements AutoCloseable {

  private record Work(int outOfTen) {}

  private static final Kind<Work> WORK = Kind.of("work", Work.class);
  private static final String TARGETS = "on-targets";
  private static final Because WHY = Because.of("soak");

  private final HoldfastClient lasting;
  private final Supplier<HoldfastClient> other;
  private final Tally tally;
  private final Visits visits;
  private final ScheduledExecutorService clock =
      Executors.newScheduledThreadPool(4, Thread.ofVirtual().factory());
  private final Deque<Worker> workers = new ArrayDeque<>();
  private final AtomicInteger tenants = new AtomicInteger();

  Traffic(HoldfastClient lasting, Supplier<HoldfastClient> other, Visits visits, Tally tally) {
    this.lasting = lasting;
    this.other = other;
    this.visits = visits;
    this.tally = tally;
  }

  void start() {
    schedule("beat");
    workers.add(worker("worker-1"));
    workers.add(worker("worker-2"));
    every(200, "jobs in bulk", () -> other().enqueueAll(plain(40)));
    every(100, "jobs with resources", () -> lasting.enqueue(keyed()));
    every(300, "jobs of targets", () -> other().enqueue(onTarget()));
    every(1_000, "acts on what stands on a target", this::resolve);
    every(500, "pauses, resumes and cancels", this::acts);
    every(2_000, "commands", () -> lasting.enqueue(command()));
    every(15_000, "tenants made and dropped", this::tenant);
    every(3_000, "tokens drawn and revoked", this::token);
    visits.all().forEach((what, visit) -> every(1_000, what, visit));
  }

  private void every(long millis, String what, Runnable action) {
    var unused =
        clock.scheduleWithFixedDelay(
            () -> tried(what, action), millis, millis, TimeUnit.MILLISECONDS);
  }

  private void tried(String what, Runnable action) {
    try {
      action.run();
      tally.count(what);
    } catch (HoldfastException e) {
      tally.count("refused or not answered");
    } catch (RuntimeException e) {
      tally.surprise(what, e);
    }
  }

  private HoldfastClient other() {
    return dice().nextBoolean() ? other.get() : lasting;
  }

  private Worker worker(String name) {
    return lasting
        .worker()
        .configure(
            config -> config.withName(name).withQueues("default", TARGETS).withConcurrency(20))
        .handleWithOutcome(WORK, this::run)
        .start();
  }

  private Outcome run(Work work, JobContext job) throws Exception {
    tally.count("attempts");
    if (work.outOfTen > 0) {
      job.log("attempt " + job.attempt());
      job.checkpoint("attempt-" + job.attempt());
      job.progress(Progress.NONE.withPercent(50));
      job.usage(1, 1);
      job.items(List.of(new Item("found", new Payload("{}"))));
    }
    int thrown = dice().nextInt(10);
    if (thrown < work.outOfTen) {
      throw new IllegalStateException("as its author wished");
    }
    return thrown == 9 && work.outOfTen > 0 && job.attempt() == 1
        ? Outcome.snoozed(Duration.ofSeconds(1))
        : Outcome.succeeded();
  }

  private static List<NewJob> plain(int jobs) {
    return IntStream.range(0, jobs).<NewJob>mapToObj(i -> WORK.job(new Work(0))).toList();
  }

  private static NewJob keyed() {
    return WORK.job(new Work(1))
        .withResources("site:" + dice().nextInt(20), "node:" + dice().nextInt(10))
        .withPolicy(PolicyOverrides.NONE.withLeaseLength(Duration.ofSeconds(15)));
  }

  private static NewJob onTarget() {
    return WORK.job(new Work(2))
        .withQueue(TARGETS)
        .withTarget("target-" + dice().nextInt(5))
        .withPolicy(PolicyOverrides.NONE.withMaxAttempts(1).withOnFailure(OnFailure.HOLD));
  }

  private static NewJob command() {
    return NewJob.of("process", Map.of("argv", List.of("true"))).withQueue("commands");
  }

  private void resolve() {
    JobFilter standing =
        new JobFilter(
            Set.of(JobState.FAILED, JobState.PAUSED),
            Optional.of(TARGETS),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());
    for (Job job : lasting.list(standing, 50).jobs()) {
      lasting.resolve(job.id(), Map.of("by", "hand"), WHY);
    }
  }

  private void acts() {
    UUID id = lasting.enqueue(WORK.job(new Work(0)).withDelay(Duration.ofHours(1))).id();
    lasting.pause(id, WHY);
    lasting.resume(id, WHY);
    lasting.cancel(id, WHY);
    lasting.retry(id, WHY);
    lasting.cancel(id, WHY);
  }

  private void tenant() {
    String name = "soak_" + tenants.incrementAndGet();
    lasting.ask("POST", "/tenants", Map.of(), Optional.of(Json.object().put("name", name)));
    lasting.withTenant(new TenantName(name)).enqueueAll(plain(5));
    lasting.ask("DELETE", "/tenants/" + name, Map.of(), Optional.empty());
  }

  private void token() {
    ObjectNode wanted = Json.object().put("name", "soak").put("role", "viewer");
    ObjectNode drawn =
        lasting.ask("POST", "/tokens", Map.of(), Optional.of(wanted.put("tenant", "default")));
    lasting.ask("DELETE", "/tokens/" + drawn.path("id").asString(), Map.of(), Optional.empty());
  }

  private void schedule(String name) {
    ObjectNode wanted = Json.object().put("every_seconds", 1).put("kind", WORK.name());
    wanted.putObject("args").put("outOfTen", 0);
    lasting.ask("PUT", "/schedules/" + name, Map.of(), Optional.of(wanted));
  }

  private static RandomGenerator dice() {
    return ThreadLocalRandom.current();
  }

  @Override
  public void close() throws InterruptedException {
    clock.shutdown(); // what is under way comes to its end
    if (!clock.awaitTermination(1, TimeUnit.MINUTES)) {
      throw new IllegalStateException("somebody is still at it after a minute");
    }
    workers.forEach(Worker::close);
  }
}
