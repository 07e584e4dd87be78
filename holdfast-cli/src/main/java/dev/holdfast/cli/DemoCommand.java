package dev.holdfast.cli;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.TenantName;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Fills a tenant with jobs to look at. */
@Command(
    name = "demo",
    description = {
      "Fills a tenant with a lively workload to look at, until it is interrupted.",
      "Everything goes through the API: jobs are enqueued, run by four workers, fail and are acted"
          + " on."
    },
    mixinStandardHelpOptions = true)
final class DemoCommand implements Callable<Integer> {

  private static final Duration SECOND = Duration.ofSeconds(1);

  @Spec private @Nullable CommandSpec spec;
  @Mixin private Remote remote = new Remote();

  @Option(
      names = "--into",
      defaultValue = "demo",
      description = "The tenant; made if there is none. Default: ${DEFAULT-VALUE}",
      paramLabel = "TENANT")
  private String tenant = "";

  @Option(
      names = "--seconds",
      defaultValue = "0",
      description = "Ends after so long; 0 goes on until interrupted.")
  private long seconds;

  @Override
  public Integer call() throws InterruptedException {
    if (spec == null) {
      throw new IllegalStateException("not run by picocli");
    }
    if (seconds < 0) {
      throw HoldfastException.badConfig("--seconds", seconds, "0 or more");
    }
    PrintWriter out = spec.commandLine().getOut();
    TenantName name = new TenantName(tenant);
    Demo.makeTenant(remote.client(), tenant);
    HoldfastClient client = remote.client().withTenant(name);
    try (Demo demo = Demo.start(client)) {
      out.println("Tenant " + tenant + " is busy. Choose it in the dashboard. Ctrl-C ends it.");
      out.flush();
      for (long i = 0; seconds == 0 || i < seconds; i++) {
        demo.runOnce();
        Thread.sleep(SECOND);
      }
    }
    return 0;
  }
}
