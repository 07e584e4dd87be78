package dev.holdfast.hold;

import dev.holdfast.job.Needs;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Decides which jobs get resources, given how much room there is on them. The resources' rows are
 * locked. Pure: decides one job after the other, in the order they are asked about, each decision
 * taking the earlier grants into account.
 */
public final class Rooms {

  /** How often a job is passed over before it begins to reserve what it needs, one by one. */
  static final int PASSED_OVER_TOO_OFTEN = 64;

  /** One resource as its locked row and the tables around it say. */
  record Room(String name, int capacity, int holders, boolean blocked, Set<UUID> reservedBy) {}

  /** A job that asks for its resources. */
  public record Asking(UUID jobId, Needs needs, int passedOver, boolean waitedTooLong) {

    /** Whether it was passed over too often, or for too long, to go on without reserving. */
    public boolean isImpatient() {
      return needs.resources().size() > 1 && (waitedTooLong || passedOver >= PASSED_OVER_TOO_OFTEN);
    }
  }

  /** What is decided about a job. */
  public sealed interface Decision {

    /** The job gets all its resources, now. */
    record Grant() implements Decision {}

    /**
     * The job waits for one of its resources.
     *
     * @param resource the one it waits for
     * @param reserved the resources that are reserved for it meanwhile
     * @param insists whether the one it waits for is to be reserved, too, as soon as there is room
     */
    record Park(String resource, List<String> reserved, boolean insists) implements Decision {}
  }

  private final Map<String, Room> rooms = new HashMap<>();
  private final Map<String, Integer> taken = new HashMap<>();
  private final Map<String, Set<UUID>> kept = new HashMap<>();
  private final Map<String, List<UUID>> turns;
  private final Set<UUID> granted = new HashSet<>();

  /**
   * For these locked resources.
   *
   * @param turns for each target's resource the first jobs in line, as many as its capacity
   */
  Rooms(List<Room> rooms, Map<String, List<UUID>> turns) {
    rooms.forEach(room -> {
      this.rooms.put(room.name(), room);
      kept.put(room.name(), new HashSet<>(room.reservedBy()));
    });
    this.turns = turns;
  }

  public Decision decide(Asking asking) {
    List<String> names = asking.needs().resources();
    Optional<String> inTheWay =
        names.stream()
            .filter(name -> room(name).blocked())
            .findFirst()
            .or(() -> asking.needs().targetResource().filter(target -> !isTurn(target, asking)));
    if (inTheWay.isPresent()) {
      return new Decision.Park(inTheWay.get(), List.of(), false);
    }
    return names.stream()
        .filter(name -> !hasRoom(name, asking))
        .findFirst()
        .map(busy -> park(asking, busy))
        .orElseGet(() -> grant(asking));
  }

  private Decision park(Asking asking, String busy) {
    List<String> reserved = reserved(asking, busy);
    // Jobs that are decided about later do not get what is reserved now, either.
    reserved.forEach(
        name -> kept.computeIfAbsent(name, each -> new HashSet<>()).add(asking.jobId()));
    return new Decision.Park(busy, reserved, asking.isImpatient());
  }

  // In the order of names, up to the first that is busy: of two jobs that wait like this, the one
  // that has reserved the later name cannot be waiting for the earlier.
  private static List<String> reserved(Asking asking, String busy) {
    List<String> names = asking.needs().resources();
    return asking.isImpatient() ? names.subList(0, names.indexOf(busy)) : List.of();
  }

  private Decision grant(Asking asking) {
    asking.needs().resources().forEach(name -> taken.merge(name, 1, Integer::sum));
    granted.add(asking.jobId());
    return new Decision.Grant();
  }

  // First in line, or all jobs before it were granted just now.
  private boolean isTurn(String target, Asking asking) {
    return turns.getOrDefault(target, List.of()).stream()
        .filter(job -> !granted.contains(job))
        .findFirst()
        .equals(Optional.of(asking.jobId()));
  }

  private Room room(String name) {
    return Objects.requireNonNull(rooms.get(name));
  }

  /** Whether there is room after all that was granted, whether it is reserved or not. */
  public boolean hasRoomLeft(String name) {
    return roomLeft(name) > 0;
  }

  private int roomLeft(String name) {
    Room room = room(name);
    return room.capacity() - room.holders() - taken.getOrDefault(name, 0);
  }

  private boolean hasRoom(String name, Asking asking) {
    long keptForOthers =
        kept.getOrDefault(name, Set.of()).stream()
            .filter(owner -> !owner.equals(asking.jobId()))
            .count();
    return roomLeft(name) - keptForOthers > 0;
  }
}
