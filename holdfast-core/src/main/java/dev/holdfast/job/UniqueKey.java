package dev.holdfast.job;

/**
 * A key that at most one unfinished job has within its scope; enqueuing another job with it returns
 * the existing one. A finished job releases its key.
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

  /** The scope as text, for the unique index. */
  public String scopeName(String queue, String kind) {
    return switch (scope) {
      case TENANT -> "tenant";
      case QUEUE -> "queue:" + queue;
      case KIND -> "kind:" + kind;
    };
  }
}
