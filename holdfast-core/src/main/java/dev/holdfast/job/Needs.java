package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What a job needs besides a worker: resources, all of them or none; a target, in its turn; a
 * subject to move.
 *
 * @param resources names, sorted and without duplicates; the target's own resource is among them
 */
public record Needs(List<String> resources, Optional<String> target, Optional<Subject> subject) {

  public static final Needs NOTHING = new Needs(List.of(), Optional.empty(), Optional.empty());

  private static final String TARGET_PREFIX = "target:";
  private static final String SCHEDULE_PREFIX = "schedule:";

  /**
   * Checks the needs of a new job. A target can be given by its name, or as the resource {@code
   * target:…}.
   */
  public static Needs of(
      List<String> resources, Optional<String> target, Optional<Subject> subject) {
    TreeSet<String> names = new TreeSet<>();
    resources.forEach(name -> names.add(checked(name)));
    long besideTargets = names.stream().filter(name -> !isTarget(name)).count();
    if (besideTargets > Limits.RESOURCES) {
      throw HoldfastException.invalid(
          "resources", besideTargets + " resources", "at most " + Limits.RESOURCES);
    }
    target.ifPresent(name -> names.add(resourceOf(Limits.name("target", name))));
    List<String> targets = names.stream().filter(Needs::isTarget).toList();
    if (targets.size() > 1) {
      throw HoldfastException.invalid("resources", targets, "at most one target");
    }
    return new Needs(
        List.copyOf(names),
        targets.stream().findFirst().map(name -> name.substring(TARGET_PREFIX.length())),
        subject);
  }

  // A target's name may have the full length, so the name of its resource may be longer than that.
  private static String checked(String resource) {
    if (resource != null && isTarget(resource)) {
      Limits.name("target", resource.substring(TARGET_PREFIX.length()));
      return resource;
    }
    return Limits.name("resources", resource);
  }

  /**
   * Checks the name of a resource that a caller asks about. That of a target's resource may be
   * longer.
   */
  public static String resource(String field, @Nullable String name) {
    if (name != null && name.length() > Limits.NAME_CHARS && isTarget(name)) {
      return resourceOf(Limits.name(field, name.substring(TARGET_PREFIX.length())));
    }
    return Limits.name(field, name);
  }

  /** The resource that stands for a target. */
  public static String resourceOf(String target) {
    return TARGET_PREFIX + target;
  }

  public static boolean isTarget(String resource) {
    return resource.startsWith(TARGET_PREFIX);
  }

  /** The resource whose capacity limits how many jobs of a schedule run at once. */
  public static String resourceOfSchedule(String schedule) {
    return SCHEDULE_PREFIX + schedule;
  }

  /**
   * Whether the job needs the resource of a schedule. Every slot's job does; other jobs may, so
   * that they do not run at the same time as the schedule's.
   */
  public boolean maySerialiseASchedule() {
    return resources.stream().anyMatch(name -> name.startsWith(SCHEDULE_PREFIX));
  }

  public Optional<String> targetResource() {
    return target.map(Needs::resourceOf);
  }

  public boolean isNothing() {
    return resources.isEmpty() && subject.isEmpty();
  }
}
