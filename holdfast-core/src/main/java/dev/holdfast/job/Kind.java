package dev.holdfast.job;

/**
 * The name of what a job does, and the type of its arguments. Stored jobs carry the name, so they
 * survive a renamed class.
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
