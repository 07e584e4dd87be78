package dev.holdfast.fault;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Something that the engine is asked to do.
 *
 * @param steps how many committed states it goes through, the last included; one where it is all or
 *     nothing
 */
record Operation(String name, Setup setup, int steps, Set<Trait> traits) {

  /** Makes the state before, and answers what is to be done then. */
  @FunctionalInterface
  interface Setup {
    Action on(Ground ground) throws Exception;
  }

  /**
   * Does it; done again with the same words it is the same intent. Answers what its caller hears.
   */
  @FunctionalInterface
  interface Action {
    String run(Engine engine) throws Exception;
  }

  /** In what an operation differs from one that can be repeated at will. */
  enum Trait {
    /** Nothing tells a repeat from another: who cannot know whether it was done must not repeat. */
    HAS_NO_KEY,
    /** A person's: done before, it is refused, or done and recorded once more with the same end. */
    IS_AN_ACT,
    /** On the connection that a worker keeps. */
    IS_A_WORKERS,
    /** What was leased and not heard of comes back when the lease is over. */
    LEASES_WITHOUT_ID,
    /** May answer that only a part was done; asked again it does the rest. */
    MAY_DO_A_PART,
    /**
     * Stored otherwise than said, it is not recognised again; nothing happens, but LOST is heard.
     */
    MAY_HEAR_LOST,
    /** Lines whose report was not confirmed are said again. */
    MAY_SAY_TWICE,
    /** Fewer faults will do with every build: what it stands on is tried by others. */
    SPARINGLY
  }

  static Operation of(String name, Setup setup) {
    return new Operation(name, setup, 1, Set.of());
  }

  static Operation ofWorker(String name, Setup setup) {
    return new Operation(name, setup, 1, Set.of(Trait.IS_A_WORKERS));
  }

  static Operation act(String name, Setup setup) {
    return new Operation(name, setup, 1, Set.of(Trait.IS_AN_ACT));
  }

  Operation inSteps(int steps) {
    return new Operation(name, setup, steps, traits);
  }

  Operation with(Trait... traits) {
    Set<Trait> all = EnumSet.copyOf(List.of(traits));
    all.addAll(this.traits);
    return new Operation(name, setup, steps, all);
  }

  boolean is(Trait trait) {
    return traits.contains(trait);
  }

  /** Thrown by the rig's own JDBC calls, where a caller has the connection in its own hands. */
  static final class CallersOwn extends Exception {
    private static final long serialVersionUID = 1L;

    CallersOwn(Exception cause) {
      super(cause);
    }
  }
}
