package dev.holdfast.chaos.load;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.job.JobIds;
import dev.holdfast.job.NewJob;
import dev.holdfast.queue.Enqueued;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** Jobs whose ids the application chose, by way of whichever server answers. */
public final class OverHttp implements EnqueueWay {

  private static final Duration TIMEOUT = Duration.ofSeconds(4);

  private final List<HoldfastClient> servers;
  private List<NewJob> named = List.of();
  private int tries;

  public OverHttp(List<String> urls) {
    servers = urls.stream().map(url -> HoldfastClient.at(url).withTimeout(TIMEOUT)).toList();
  }

  @Override
  public List<UUID> store(List<NewJob> jobs) {
    if (named.isEmpty()) {
      named = jobs.stream().map(job -> job.withId(JobIds.next())).toList();
    }
    HoldfastClient server = servers.get(tries++ % servers.size());
    List<UUID> ids = server.enqueueAll(named).stream().map(Enqueued::id).toList();
    named = List.of();
    return ids;
  }
}
