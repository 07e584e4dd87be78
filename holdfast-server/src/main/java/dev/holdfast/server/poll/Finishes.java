package dev.holdfast.server.poll;

import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.RemoteLeases.End;
import dev.holdfast.loop.Batcher;
import dev.holdfast.server.tenancy.TenantServices;
import dev.holdfast.tenant.TenantName;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Records in one batch the outcomes that many workers of a tenant report at the same time.
 * Thread-safe.
 */
public final class Finishes {

  private static final int MOST_ENDS = 500;

  private final Map<TenantName, Batcher<List<End>, List<FinishReply>>> gatherings =
      new ConcurrentHashMap<>();

  /** Answers in the order given, once all of them are recorded. */
  public List<FinishReply> finish(TenantServices services, List<End> ends) {
    return gatherings
        .computeIfAbsent(services.tenant().name(), name -> new Batcher<>(MOST_ENDS, List::size))
        .ask(ends, all -> finishAll(services, all));
  }

  private static List<List<FinishReply>> finishAll(TenantServices services, List<List<End>> all) {
    List<FinishReply> replies =
        services.leases().finish(all.stream().flatMap(List::stream).toList());
    List<List<FinishReply>> answers = new ArrayList<>();
    int from = 0;
    for (List<End> ends : all) {
      answers.add(replies.subList(from, from + ends.size()));
      from += ends.size();
    }
    return answers;
  }
}
