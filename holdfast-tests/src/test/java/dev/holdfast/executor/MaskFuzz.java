package dev.holdfast.executor;

import dev.holdfast.fuzz.FuzzTarget;
import java.util.List;

/** What a command says, in pieces: no secret of it is told, wherever the pieces end. */
public final class MaskFuzz implements FuzzTarget {

  private static final List<String> SECRETS = List.of("sesame", "sesame-4711", "line one\nline 2");

  public static void fuzzerTestOneInput(byte[] data) {
    FuzzTarget.run(new MaskFuzz(), data);
  }

  @Override
  public List<String> seeds() {
    return List.of(
        "open sesame", "sesame-4711", "ses|ame", "sesame-47|11", "line one\n|line 2", "se|se|same");
  }

  /** A bar is where one piece ends and the next begins. */
  @Override
  public void read(String text) {
    SecretMask mask = new SecretMask(SECRETS);
    StringBuilder told = new StringBuilder();
    for (String piece : text.split("\\|", -1)) {
      told.append(mask.next(piece));
    }
    told.append(mask.last());
    for (String secret : List.of("sesame", "line one", "line 2")) {
      FuzzTarget.check(told.indexOf(secret) < 0, "a secret was told: " + told);
    }
    FuzzTarget.check(
        SecretMask.mask(SECRETS, text.replace("|", "")).contentEquals(told),
        "it does not matter where pieces end");
  }
}
