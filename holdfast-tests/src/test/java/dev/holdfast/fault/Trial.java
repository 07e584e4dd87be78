package dev.holdfast.fault;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.fault.Operation.Action;
import dev.holdfast.fault.Operation.CallersOwn;
import dev.holdfast.fault.Operation.Trait;
import dev.holdfast.fault.Script.Once;
import dev.holdfast.tenant.SqlErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One operation with one fault, on fresh tables: what came of it, and what is wrong with that. */
final class Trial {

  private final Ground ground;
  private final FaultyPool pool;
  private final Operation operation;
  private final Course course;
  private final Once trouble;
  private final List<String> complaints = new ArrayList<>();

  Trial(Ground ground, FaultyPool pool, Operation operation, Course course, Once trouble) {
    this.ground = ground;
    this.pool = pool;
    this.operation = operation;
    this.course = course;
    this.trouble = trouble;
  }

  /** What the caller saw, and what was stored by then. */
  record Result(String seen, String stored, List<String> complaints) {}

  private record Heard(Optional<String> answer, Optional<Throwable> thrown) {}

  Result run() throws Exception {
    ground.restore();
    Action action = course.action();
    Engine engine = ground.engine(pool.dataSource()).keepingAConnection();
    String seen;
    String stored;
    try (engine) {
      pool.play(trouble);
      Heard heard = ask(action, engine);
      if (pool.heal().isEmpty()) {
        complaints.add("nothing went wrong");
      }
      seen = judge(heard);
      Picture now = ground.picture();
      stored = judge(now, heard);
      if (!now.equals(course.before())) {
        noViolations("after the fault");
      }
      if (trouble.fault() == Fault.READ_ONLY && isOnKeptConnection() && pool.keepsReadOnly()) {
        complaints.add("a connection to a standby is kept");
      }
      again(action, engine, now, heard);
      noViolations("after the repeat");
    }
    complaints.addAll(pool.complaints());
    if (pool.lent() != 0) {
      complaints.add(pool.lent() + " connections were not given back");
    }
    return new Result(seen, stored, complaints);
  }

  // No server refuses a commit for being a standby; statements are watched.
  private boolean isOnKeptConnection() {
    return operation.is(Trait.IS_A_WORKERS)
        && course.points().get(trouble.number()).kind() == Point.Kind.STATEMENT;
  }

  private static Heard ask(Action action, Engine engine) {
    try {
      return new Heard(Optional.of(action.run(engine)), Optional.empty());
    } catch (Throwable e) {
      return new Heard(Optional.empty(), Optional.of(e));
    }
  }

  private String judge(Heard heard) {
    if (heard.thrown.isEmpty()) {
      return "success";
    }
    Throwable thrown = heard.thrown.get();
    if (thrown instanceof CallersOwn) {
      return "the caller's own SQLException";
    }
    if (!SqlErrors.isPassing(thrown)) {
      complaints.add("not seen to be passing: " + thrown);
    }
    if (trouble.fault() == Fault.READ_ONLY && !SqlErrors.isReadOnly(thrown)) {
      complaints.add("not seen to be read-only: " + thrown);
    }
    if (thrown instanceof HoldfastException ours) {
      if (ours.code() != ErrorCode.DATABASE) {
        complaints.add("the database's failure under the name of " + ours);
      }
      return ours.code().name();
    }
    complaints.add("leaked " + thrown);
    return thrown.getClass().getSimpleName();
  }

  private String judge(Picture now, Heard heard) {
    if (now.equals(course.after()) && now.equals(course.before())) {
      return "nothing to do";
    }
    if (now.equals(course.after())) {
      return "after";
    }
    if (heard.answer.isPresent() && !operation.is(Trait.MAY_DO_A_PART)) {
      complaints.add(
          "answered " + heard.answer.get() + ", but\n" + now.differsFrom(course.after()));
    }
    if (now.equals(course.before())) {
      return "before";
    }
    if (course.states().contains(now)) {
      return "at a step";
    }
    complaints.add("in between:\n" + now.differsFrom(course.before()));
    return "in between";
  }

  private void again(Action action, Engine engine, Picture now, Heard first) throws Exception {
    boolean untouched = now.equals(course.before());
    if (operation.is(Trait.HAS_NO_KEY) && !untouched) {
      return;
    }
    Heard heard;
    if (operation.is(Trait.IS_AN_ACT) && now.equals(course.after())) {
      actAgain(action, engine);
      return;
    }
    if (operation.is(Trait.LEASES_WITHOUT_ID) && first.thrown.isPresent() && !untouched) {
      complaints.addAll(new LostLeases(ground, course).comeBack(engine));
      return;
    }
    heard = ask(action, engine);
    heard.thrown.ifPresent(e -> complaints.add("the repeat failed: " + e));
    heard
        .answer
        .filter(answer -> !answer.equals(course.answer()) && first.answer.isEmpty())
        .filter(answer -> !(operation.is(Trait.MAY_HEAR_LOST) && answer.contains("Lost")))
        .ifPresent(answer -> complaints.add("the repeat was answered by " + answer));
    Picture end = ground.picture();
    if (operation.is(Trait.MAY_SAY_TWICE)) {
      same("the end but for the log", end.without("job_log"), course.after().without("job_log"));
    } else {
      same("the end", end, course.after());
    }
  }

  /** Refused, or recorded once more. */
  private void actAgain(Action action, Engine engine) {
    Heard heard = ask(action, engine);
    Picture end = ground.picture();
    same("the end", end.without("audit"), course.after().without("audit"));
    boolean refused =
        heard.thrown.isPresent()
            && heard.thrown.get() instanceof HoldfastException ours
            && (ours.code() == ErrorCode.STATE_CONFLICT || ours.code() == ErrorCode.NOT_FOUND);
    if (heard.thrown.isPresent() && !refused) {
      complaints.add("the repeat failed: " + heard.thrown.get());
    }
    long more = end.count("audit") - course.after().count("audit");
    if (more != (refused || course.after().count("audit") == 0 ? 0 : 1)) {
      complaints.add(more + " more audit rows; refused: " + refused);
    }
  }

  private void same(String what, Picture found, Picture expected) {
    if (!found.equals(expected)) {
      complaints.add(what + " differs:\n" + found.differsFrom(expected));
    }
  }

  private void noViolations(String when) {
    ground.violations().forEach(violation -> complaints.add(when + ": " + violation));
  }
}
