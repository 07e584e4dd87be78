package dev.holdfast.server.tenancy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/**
 * A receiver of events.
 *
 * @param secret signs the messages, so that the receiver can verify the sender
 */
public record Webhook(String name, String url, Set<Event> events, String secret) {

  /** What a webhook can subscribe to. */
  public enum Event {
    /** A job has failed for good. */
    JOB_FAILED,
    /** A job has blocked its target for long. */
    OLD_BLOCK,
    /** A slot did not run as planned. */
    SLOT_MISSED,
    /** An invariant does not hold. */
    INVARIANT_VIOLATED;

    public String stored() {
      return name().toLowerCase(Locale.ROOT);
    }

    public static Event of(String stored) {
      return Arrays.stream(values())
          .filter(event -> event.stored().equals(stored))
          .findFirst()
          .orElseThrow(() ->
              HoldfastException.invalid(
                  "events", stored, "job_failed, old_block, slot_missed, invariant_violated"));
    }
  }

  public Webhook {
    Limits.name("name", name);
    Limits.name("secret", secret);
    checkUrl(url);
    if (events.isEmpty()) {
      throw HoldfastException.invalid("events", "none", "at least one");
    }
    events = Set.copyOf(new TreeSet<>(events));
  }

  private static void checkUrl(String url) {
    Limits.name("url", url);
    try {
      URI uri = new URI(url);
      boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
      if (http && uri.getHost() != null && uri.getUserInfo() == null) {
        return;
      }
    } catch (URISyntaxException e) {
      // refused below
    }
    throw HoldfastException.invalid("url", url, "an http or https address without a password");
  }

  // Contains neither the secret nor the path, which with some receivers is a secret, too.
  @Override
  public String toString() {
    URI uri = URI.create(url);
    String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
    return name + " " + uri.getScheme() + "://" + uri.getHost() + port + " " + events;
  }
}
