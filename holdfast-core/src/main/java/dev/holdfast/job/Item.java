package dev.holdfast.job;

/**
 * Something that a job found or made. A job has each key once; the first one stored stays.
 *
 * @param key what makes it the same as another
 */
public record Item(String key, Payload data) {

  public Item {
    Limits.name("items.key", key);
  }
}
