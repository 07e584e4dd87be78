package dev.holdfast.server.poll;

import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.RemoteLeases.End;
import dev.holdfast.loop.Together;
import dev.holdfast.server.tenancy.Desk;
import dev.holdfast.tenant.TenantName;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Records what many workers of a tenant say at once together. Thread-safe. */
public final class Finishes {

  private static final int MOST_ENDS = 500;

  private final Map<TenantName, Together<List<End>, List<FinishReply>>> gatherings =
      new ConcurrentHashMap<>();

  /** Answers in the order given, once all of them are recorded. */
  public List<FinishReply> finish(Desk desk, List<End> ends) {
    return gatherings
        .computeIfAbsent(desk.tenant().name(), name -> new Together<>(MOST_ENDS, List::size))
        .ask(ends, all -> finishAll(desk, all));
  }

  private static List<List<FinishReply>> finishAll(Desk desk, List<List<End>> all) {
    List<FinishReply> replies = desk.leases().finish(all.stream().flatMap(List::stream).toList());
    List<List<FinishReply>> answers = new ArrayList<>();
    int from = 0;
    for (List<End> ends : all) {
      answers.add(replies.subList(from, from + ends.size()));
      from += ends.size();
    }
    return answers;
  }
}
