package dev.holdfast.job;

/**
 * Something that a job found or made. A job stores each key once: of two items with the same key,
 * the first stays.
 *
 * @param key identifies the item within its job
 */
public record Item(String key, Payload data) {

  public Item {
    Limits.name("items.key", key);
  }
}
