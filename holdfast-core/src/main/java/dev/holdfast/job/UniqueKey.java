package dev.holdfast.job;

/**
 * At most one unfinished job has a given key within its scope; enqueueing another answers with the
 * one that is there. A finished job gives its key back.
 */
public record UniqueKey(String key, Scope scope) {

  /** Among which jobs the key is unique. */
  public enum Scope {
    TENANT,
    QUEUE,
    KIND
  }

  public UniqueKey {
    Limits.name("unique_key", key);
  }

  /** What the key is unique within, as one word for the index. */
  public String scopeName(String queue, String kind) {
    return switch (scope) {
      case TENANT -> "tenant";
      case QUEUE -> "queue:" + queue;
      case KIND -> "kind:" + kind;
    };
  }
}
