package dev.holdfast.chaos.fleet;

import dev.holdfast.server.HoldfastServer;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Does once what all processes of the fleet do when they start, for {@link Archive}. */
public final class Rehearsal {

  private static final int SECONDS = 1; // so that each has asked for work

  private Rehearsal() {}

  public static void main(String[] args) throws Exception {
    Life life = Life.begin(args);
    Path data = Path.of(args[3]);
    try (HoldfastServer server = ServerNode.start(args[2], data, data.resolve("shared"))) {
      String url = "http://127.0.0.1:" + server.port().orElseThrow();
      try (var worker = DatabaseWorker.start(life, args[2]);
          var remote = HttpWorker.start(life, url);
          var agent = AgentNode.start(url, data.resolve("agent"));
          var pulling = new PullWorker(url, life);
          var asking = new DialectAgent(url, life)) {
        TimeUnit.SECONDS.sleep(SECONDS);
      }
    }
    life.ledger().says("bye");
    System.out.println("ready");
    System.exit(0);
  }
}
