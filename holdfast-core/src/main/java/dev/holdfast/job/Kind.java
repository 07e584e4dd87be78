package dev.holdfast.job;

/**
 * Names what a job does and the type of its arguments. A renamed class does not rename stored jobs.
 */
public record Kind<A>(String name, Class<A> argsType) {

  public Kind {
    Limits.name("kind", name);
  }

  public static <A> Kind<A> of(String name, Class<A> argsType) {
    return new Kind<>(name, argsType);
  }

  /** A job of this kind, ready to be enqueued. */
  public NewJob job(A args) {
    return NewJob.of(name, args);
  }
}
