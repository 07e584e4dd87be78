package dev.holdfast.bench;

import dev.holdfast.bench.workload.RemoteFleet;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The process that W10 starts: workers over HTTP, who say how it went when all jobs are done. */
@Command(name = "fleet", hidden = true)
final class FleetCommand implements Callable<Integer> {

  @Option(names = "--port", required = true)
  private int port;

  @Option(names = "--workers", required = true)
  private int workers;

  @Option(names = "--jobs", required = true)
  private int jobs;

  @Override
  public Integer call() throws Exception {
    try (RemoteFleet fleet = RemoteFleet.start(port, workers, jobs)) {
      fleet.tell(System.out);
    }
    return 0;
  }
}
