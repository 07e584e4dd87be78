package dev.holdfast.server.http;

import java.util.Map;

/**
 * The reason why a request is refused.
 *
 * @param code one word that programs can rely on
 * @param more further members of the answer
 */
public record Refusal(int status, String code, String detail, Map<String, String> more) {

  public Refusal(int status, String code, String detail) {
    this(status, code, detail, Map.of());
  }

  /** Carries a refusal where only an exception can leave the method. */
  public static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient Refusal refusal;

    public Refused(Refusal refusal) {
      super(refusal.detail(), null, false, false);
      this.refusal = refusal;
    }

    public Refusal refusal() {
      return refusal;
    }
  }

  public Refused asException() {
    return new Refused(this);
  }

  public static Refused of(int status, String code, String detail) {
    return new Refusal(status, code, detail).asException();
  }
}
