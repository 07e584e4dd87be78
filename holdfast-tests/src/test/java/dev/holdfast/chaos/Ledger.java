package dev.holdfast.chaos;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The outside world that jobs act upon, as a process of its own. It knows nothing of Holdfast: its
 * classpath has this class and the JDK. It does what {@code JobContext.fence} asks of a protected
 * resource, which is to remember the largest fence it has seen and to refuse smaller ones, and it
 * writes down everything it is told, in order, with the time and its answer.
 *
 * <p>One request a line, one answer a line:
 *
 * <pre>
 * hello worker                          who speaks on this connection
 * start job attempt fence resources     comma-separated, or - for none
 * effect job fence
 * end job fence how
 * anything else                         is only written down
 * </pre>
 */
public final class Ledger {

  private final long began = System.nanoTime();
  private final Writer file;
  private final Map<String, Long> largestFences = new HashMap<>();
  private final Map<String, List<String>> started = new HashMap<>();
  private long order;

  Ledger(Path file) throws IOException {
    this.file =
        Files.newBufferedWriter(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  /** Serves until its standard input ends, as it does when whoever started it is gone. */
  public static void main(String[] args) throws IOException {
    ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Ledger ledger = new Ledger(Path.of(args[0]));
    Thread.ofPlatform().daemon().start(() -> ledger.accept(server));
    System.out.println(server.getLocalPort());
    while (System.in.read() >= 0) {
      // nothing is ever sent
    }
    System.exit(0);
  }

  private void accept(ServerSocket server) {
    while (true) {
      try {
        Socket socket = server.accept();
        Thread.ofPlatform().daemon().start(() -> serve(socket));
      } catch (IOException e) {
        throw new IllegalStateException("The ledger is closed", e);
      }
    }
  }

  private void serve(Socket socket) {
    String who = "?";
    try (socket;
        BufferedReader in =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        BufferedWriter out =
            new BufferedWriter(
                new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith("hello ")) {
          who = line.substring("hello ".length());
        }
        out.write(record(who, line) + "\n");
        out.flush();
      }
    } catch (IOException e) {
      // A killed process resets its connection; that it is gone is written down either way.
    }
    record(who, "gone");
  }

  /** Answers, after it has written down what it was told and what it answers. */
  synchronized String record(String who, String line) {
    String answer = accepts(line.split(" ")) ? "ok" : "refused";
    long millis = (System.nanoTime() - began) / 1_000_000;
    try {
      file.write("%d %d %s %s %s\n".formatted(++order, millis, who, line, answer));
      file.flush();
    } catch (IOException e) {
      throw new IllegalStateException("The ledger cannot write", e);
    }
    return answer;
  }

  private boolean accepts(String[] words) {
    return switch (words[0]) {
      case "start" -> start(words[1], Long.parseLong(words[3]), words[4]);
      case "effect" -> isCurrent(started.get(words[1] + words[2]), Long.parseLong(words[2]));
      case "end" -> isCurrent(started.remove(words[1] + words[2]), Long.parseLong(words[2]));
      default -> true;
    };
  }

  private boolean start(String job, long fence, String resources) {
    List<String> names = new ArrayList<>();
    names.add(job); // a job is a thing to be acted upon by one attempt, too
    if (!resources.equals("-")) {
      names.addAll(List.of(resources.split(",")));
    }
    if (!isCurrent(names, fence)) {
      return false;
    }
    names.forEach(name -> largestFences.put(name, fence));
    started.put(job + fence, names);
    return true;
  }

  private boolean isCurrent(List<String> names, long fence) {
    return Optional.ofNullable(names).stream()
        .flatMap(List::stream)
        .mapToLong(name -> largestFences.getOrDefault(name, 0L))
        .max()
        .stream()
        .anyMatch(largest -> largest <= fence);
  }
}
