package dev.holdfast.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.error.HoldfastException;
import java.util.List;

/**
 * Something that reads what others wrote. It may refuse it, and then with a {@link
 * HoldfastException}; what it accepts must keep a promise. Jazzer finds each by its name, and needs
 * a public class with a constructor and {@code fuzzerTestOneInput}.
 */
public interface FuzzTarget {

  /** From which all else is made. */
  List<String> seeds();

  /**
   * Reads one, and fails if a promise is not kept.
   *
   * @throws HoldfastException which is a clear refusal, and fine
   */
  void read(String text) throws Exception;

  /** One input, as any driver hands it over. */
  static void run(FuzzTarget target, byte[] data) {
    String text = new String(data, UTF_8);
    try {
      target.read(text);
    } catch (HoldfastException e) {
      check(e.getMessage() != null && !e.getMessage().isBlank(), "a refusal says why");
    } catch (Exception e) {
      throw new AssertionError("not a refusal but a failure, by: " + text, e);
    }
  }

  static void check(boolean kept, String promise) {
    if (!kept) {
      throw new AssertionError(promise);
    }
  }
}
