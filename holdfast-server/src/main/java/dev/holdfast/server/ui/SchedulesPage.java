package dev.holdfast.server.ui;

import static dev.holdfast.server.http.Route.Method.GET;

import dev.holdfast.api.Json;
import dev.holdfast.api.MaskedArgs;
import dev.holdfast.codec.PolicyJson;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Payload;
import dev.holdfast.schedule.Planned;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.slot.Slot;
import dev.holdfast.tenant.Portion;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import tools.jackson.databind.node.ObjectNode;

/** Pages with the schedules: when they are due next, and what became of their slots. */
final class SchedulesPage {

  private static final PolicyJson POLICIES = new PolicyJson();
  private static final int ROWS = 100;
  private static final int STRIP = 30;
  private static final int NEXT = 10;
  private static final int SLOTS = 400;

  /** A schedule in the list, with its latest slots, oldest first. */
  record Row(Planned planned, List<Slot> latest) {

    Schedule schedule() {
      return planned.schedule();
    }

    String when() {
      return SchedulesPage.when(schedule().trigger());
    }
  }

  /** What the template of the list shows. */
  record View(Frame frame, List<Row> schedules, String nextHref) {}

  /** The slots of one day in the schedule's own zone, oldest first. */
  record Day(LocalDate date, List<Slot> slots) {}

  /** What the template of one schedule shows. */
  record One(Frame frame, Planned planned, List<Instant> next, List<Day> days, List<Slot> slots) {

    Schedule schedule() {
      return planned.schedule();
    }

    ZoneId zone() {
      return SchedulesPage.zone(schedule().trigger());
    }

    String when() {
      return SchedulesPage.when(schedule().trigger());
    }

    String cron() {
      return schedule().trigger() instanceof Trigger.OnTheWall wall ? wall.expression() : "";
    }

    String everySeconds() {
      return schedule().trigger() instanceof Trigger.Every(var interval)
          ? String.valueOf(interval.toSeconds())
          : "";
    }

    /**
     * Values that the form does not show but must send again: a schedule that is put replaces the
     * old one, with everything it leaves out.
     */
    Map<String, String> kept() {
      Map<String, String> kept = new TreeMap<>();
      Json.parse("policy", POLICIES.writeSaid(schedule().job().policy()))
          .properties()
          .forEach(each ->
              kept.put(
                  each.getKey(),
                  each.getValue().isString()
                      ? each.getValue().stringValue()
                      : Json.write(each.getValue())));
      kept.put("priority", String.valueOf(schedule().job().priority()));
      if (schedule().trigger() instanceof Trigger.OnTheWall wall) {
        ObjectNode dst = Json.object();
        dst.put("twice", wall.dst().twice().name().toLowerCase(Locale.ROOT));
        dst.put("missing", wall.dst().missing().name().toLowerCase(Locale.ROOT));
        kept.put("dst", Json.write(dst));
      }
      return kept;
    }

    String args() {
      return frame.seesArgs() && schedule().job().args() instanceof Payload args
          ? MaskedArgs.of(args).json()
          : "";
    }
  }

  private final Frames frames;

  SchedulesPage(Frames frames) {
    this.frames = frames;
  }

  List<Route> routes() {
    return List.of(
        Route.of(GET, "/ui/schedules", Role.VIEWER, "Schedules", this::list)
            .queries("after")
            .asPage(),
        Route.of(GET, "/ui/schedule", Role.VIEWER, "A schedule", this::one)
            .queries("name")
            .asPage());
  }

  private Answer list(Request request) {
    Portion<Planned> schedules = request.services().schedules().list(request.after(), ROWS);
    List<Row> rows =
        schedules.rows().stream()
            .map(planned ->
                new Row(
                    planned,
                    request
                        .services()
                        .schedules()
                        .slots(planned.schedule().name(), Optional.empty(), STRIP)
                        .reversed()))
            .toList();
    return Html.page(
        "schedules",
        new View(
            frames.frame(request, "Schedules", "schedules"),
            rows,
            schedules.more()
                ? "/ui/schedules?after=" + Say.query(schedules.rows().getLast().schedule().name())
                : ""));
  }

  private Answer one(Request request) {
    String name =
        Limits.name(
            "name",
            request
                .query("name")
                .orElseThrow(() -> HoldfastException.invalid("name", "none", "a name")));
    Planned planned =
        request
            .services()
            .schedules()
            .get(name)
            .orElseThrow(
                () -> new HoldfastException(ErrorCode.NOT_FOUND, "There is no schedule " + name));
    List<Slot> slots = request.services().schedules().slots(name, Optional.empty(), SLOTS);
    return Html.page(
        "schedule",
        new One(
            frames.frame(request, name, "schedules"),
            planned,
            request.services().schedules().next(name, NEXT, Optional.empty()),
            days(slots, zone(planned.schedule().trigger())),
            slots.subList(0, Math.min(50, slots.size()))));
  }

  private static List<Day> days(List<Slot> slots, ZoneId zone) {
    Map<LocalDate, List<Slot>> byDay = new TreeMap<>();
    slots
        .reversed()
        .forEach(slot ->
            byDay
                .computeIfAbsent(
                    LocalDate.ofInstant(slot.scheduledFor(), zone), day -> new ArrayList<>())
                .add(slot));
    return byDay.entrySet().stream().map(day -> new Day(day.getKey(), day.getValue())).toList();
  }

  private static ZoneId zone(Trigger trigger) {
    return switch (trigger) {
      case Trigger.Every every -> ZoneId.of("UTC");
      case Trigger.OnTheWall wall ->
          wall.zone().equals(ZoneOffset.UTC) ? ZoneId.of("UTC") : wall.zone();
    };
  }

  private static String when(Trigger trigger) {
    return switch (trigger) {
      case Trigger.Every(var interval) -> "every " + Say.length(interval);
      case Trigger.OnTheWall wall -> wall.expression() + " · " + zone(wall).getId();
    };
  }
}
