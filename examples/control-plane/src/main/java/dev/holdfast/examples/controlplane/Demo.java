package dev.holdfast.examples.controlplane;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.executor.NodeAddress;
import dev.holdfast.job.Job;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.worker.Worker;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Clones, deploys and restores one environment on this machine, and says how it goes. */
public final class Demo {

  private Demo() {}

  /**
   * Runs it.
   *
   * @param arguments a JDBC URL, the directory of playbooks, and where the environment is to be
   */
  public static void main(String[] arguments) throws InterruptedException {
    if (arguments.length != 3) {
      System.err.println("Usage: control-plane.jar jdbc:postgresql://… PLAYBOOKS ROOT");
      System.exit(2);
    }
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(arguments[0]);
    try (HikariDataSource database = new HikariDataSource(pool)) {
      Holdfast.on(database).migrate();
      ControlPlane plane =
          new ControlPlane(database, new SchemaName("control_plane"), TenantName.DEFAULT);
      String number = UUID.randomUUID().toString().substring(0, 8);
      plane.tables().addNode(here("node-" + number), arguments[2]);
      plane.tables().addSite("site-" + number, "demo-" + number);
      plane
          .tables()
          .addEnvironment("env-" + number, "site-" + number, "node-" + number, "production");
      try (JobExecutors executors = ControlPlane.executors(Path.of(arguments[1]));
          Worker worker = plane.worker(executors).start()) {
        run(plane, Task.CLONE, "env-" + number, Map.of());
        run(plane, Task.DEPLOY, "env-" + number, Map.of("version", "1"));
        run(plane, Task.DEPLOY, "env-" + number, Map.of("version", "2"));
        run(plane, Task.RESTORE, "env-" + number, Map.of("version", "1"));
      }
    }
  }

  static NodeAddress here(String id) {
    return new NodeAddress(
        id,
        "localhost",
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.of("local"));
  }

  private static void run(
      ControlPlane plane, Task task, String environment, Map<String, String> arguments)
      throws InterruptedException {
    UUID id = plane.start(task, environment, arguments);
    String state = "";
    while (!plane.job(id).map(Job::state).orElseThrow().isFinished()) {
      if (!state.equals(plane.state(environment))) {
        state = plane.state(environment);
        System.out.println(environment + " is " + state);
      }
      Thread.sleep(100);
    }
    System.out.println(environment + " is " + plane.state(environment));
  }
}
