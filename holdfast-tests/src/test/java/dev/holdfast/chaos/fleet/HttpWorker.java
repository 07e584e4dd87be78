package dev.holdfast.chaos.fleet;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.time.Duration;

/** The same worker, over HTTP. */
public final class HttpWorker {

  // What an answer may take, and what a claim may wait, come off the lease as its worker sees it.
  private static final Duration TIMEOUT = Duration.ofSeconds(1);
  private static final Duration WAIT = Duration.ofMillis(300);

  private HttpWorker() {}

  public static void main(String[] args) throws IOException {
    Life life = Life.begin(args);
    life.goOn("ready", start(life, args[2]));
  }

  static Worker start(Life life, String url) {
    return DatabaseWorker.chores(HoldfastClient.at(url).withTimeout(TIMEOUT).worker(), life)
        .configure(config -> config.withPollInterval(WAIT))
        .start();
  }
}
