package dev.holdfast.executor;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.core.DefaultDockerClientConfig;
import com.github.dockerjava.core.DockerClientImpl;
import com.github.dockerjava.transport.DockerHttpClient;
import dev.holdfast.fuzz.FuzzTarget;
import dev.holdfast.job.Limits;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a container says, as its engine sends it: in frames with a head each. Wherever frames end,
 * and in whatever pieces they come, the lines are the same; an engine that sends nonsense is read
 * to its end, and no more is kept than may be.
 */
public final class FramesFuzz implements FuzzTarget {

  private static final int MOST_CHARS = 20_000;
  private static final int LEAST_PER_LINE = 50; // an empty line counts as so much
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final List<String> SECRETS = List.of("sesame");

  private static final DockerClient ENGINE =
      DockerClientImpl.getInstance(
          DefaultDockerClientConfig.createDefaultConfigBuilder()
              .withDockerHost("unix:///nowhere")
              .withDockerTlsVerify(false)
              .build(),
          engine());

  private static volatile InputStream next = InputStream.nullInputStream();

  /** All that was kept of it. */
  private record Kept(List<String> lines, String tail) {}

  public static void fuzzerTestOneInput(byte[] data) {
    FuzzTarget.run(new FramesFuzz(), data);
  }

  @Override
  public List<String> seeds() {
    return List.of(
        "one\ntwo\nthree",
        "on|e\r|\ntw|\u00e9|o\n",
        "se|same and\nses|am|e",
        "\u0001\u0000\u0000\u0000\u0000\u0000\u0000\u0003abc",
        "\u0002\u0000\u0000\u0000\u007f\u007f\u007f\u007fabc", // more than there is
        "\u0001\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0001\u0000\u0000\u0000\u0000\u0000",
        "\ud83d\ude00|".repeat(3),
        "\n".repeat(500),
        "x".repeat(Limits.LOG_LINE_CHARS) + "\r\n" + "y".repeat(Limits.LOG_LINE_CHARS + 1),
        "z".repeat(3 * MOST_CHARS));
  }

  /** A bar is where one frame ends and the next begins. */
  @Override
  public void read(String text) throws IOException {
    byte[] whole = text.replace("|", "").getBytes(UTF_8);
    Kept kept = read(frame(1, whole), Integer.MAX_VALUE);
    bounded(kept);
    byte[] frames = frames(text.getBytes(UTF_8));
    FuzzTarget.check(read(frames, Integer.MAX_VALUE).equals(kept), "wherever frames end: " + text);
    FuzzTarget.check(read(frames, 1).equals(kept), "byte by byte: " + text);
    bounded(read(text.getBytes(UTF_8), 3)); // as if it were frames
  }

  private static void bounded(Kept kept) {
    long chars = 0;
    for (String line : kept.lines) {
      FuzzTarget.check(line.length() <= Limits.LOG_LINE_CHARS, "no line is too long");
      FuzzTarget.check(line.indexOf('\n') < 0 && line.indexOf('\0') < 0, "one line: " + line);
      FuzzTarget.check(!line.contains("sesame"), "no secret: " + line);
      chars += Math.max(line.length(), LEAST_PER_LINE);
    }
    FuzzTarget.check(chars <= MOST_CHARS + 100, "no more than may be: " + chars);
  }

  // A bar in the midst of a letter's bytes is none: bytes of letters beyond ASCII are never one.
  private static byte[] frames(byte[] text) {
    ByteArrayOutputStream frames = new ByteArrayOutputStream();
    ByteArrayOutputStream frame = new ByteArrayOutputStream();
    int number = 0;
    for (byte each : text) {
      if (each == '|') {
        frames.writeBytes(frame(number++ % 2 + 1, frame.toByteArray()));
        frame.reset();
      } else {
        frame.write(each);
        if (each < 0) { // and every piece of a letter goes alone
          frames.writeBytes(frame(number++ % 2 + 1, frame.toByteArray()));
          frame.reset();
        }
      }
    }
    frames.writeBytes(frame(1, frame.toByteArray()));
    return frames.toByteArray();
  }

  private static byte[] frame(int stream, byte[] payload) {
    return ByteBuffer.allocate(8 + payload.length)
        .put((byte) stream)
        .put(new byte[3])
        .putInt(payload.length)
        .put(payload)
        .array();
  }

  private static Kept read(byte[] stream, int atOnce) throws IOException {
    next = new Pieces(new ByteArrayInputStream(stream), atOnce);
    List<String> lines = new ArrayList<>();
    FrameStream frames = new FrameStream();
    CommandOutput output =
        CommandOutput.read(
            frames.input(),
            new SecretMask(SECRETS),
            new LogLines(lines::add, () -> {}, MOST_CHARS));
    try (frames) {
      ENGINE.logContainerCmd("x").withStdOut(true).withStdErr(true).exec(frames);
      output.await(PATIENCE);
      FuzzTarget.check(output.isOver(), "it comes to its end");
    }
    return new Kept(List.copyOf(lines), output.last(MOST_CHARS));
  }

  /** So much of it at a time. */
  private static final class Pieces extends FilterInputStream {

    private final int atOnce;

    Pieces(InputStream in, int atOnce) {
      super(in);
      this.atOnce = atOnce;
    }

    @Override
    public int read(byte[] into, int from, int most) throws IOException {
      return super.read(into, from, Math.min(most, atOnce));
    }
  }

  // A proxy, because docker-java's own types of requests have annotations that nobody ships.
  private static DockerHttpClient engine() {
    return (DockerHttpClient)
        Proxy.newProxyInstance(
            FramesFuzz.class.getClassLoader(),
            new Class<?>[] {DockerHttpClient.class},
            (proxy, method, args) -> method.getName().equals("execute") ? new Answer(next) : null);
  }

  /** Whatever was asked. */
  private record Answer(InputStream body) implements DockerHttpClient.Response {

    @Override
    public int getStatusCode() {
      return 200;
    }

    @Override
    public Map<String, List<String>> getHeaders() {
      return Map.of();
    }

    @Override
    public InputStream getBody() {
      return body;
    }

    @Override
    public void close() {}
  }
}
