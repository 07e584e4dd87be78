package dev.holdfast.bench.contender;

/** Many jobs in portions of one bulk enqueue each. */
public record Chunks(int from, int jobs) {

  public static final int CHUNK_JOBS = 5_000;

  /** Takes one portion. */
  @FunctionalInterface
  public interface Enqueue {
    void accept(int from, int count);
  }

  public static Chunks of(int jobs) {
    return new Chunks(0, jobs);
  }

  public void forEach(Enqueue enqueue) {
    for (int done = 0; done < jobs; done += CHUNK_JOBS) {
      enqueue.accept(from + done, Math.min(CHUNK_JOBS, jobs - done));
    }
  }
}
