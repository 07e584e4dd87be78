package dev.holdfast.soak;

import java.util.Locale;

/**
 * What is done all the time, and how often a minute at least: a fifth or less of what an idle
 * machine does. A run in which one of them came to rest says nothing about it.
 */
enum Feature {
  JOBS_IN_BULK(60),
  JOBS_WITH_RESOURCES(100),
  JOBS_OF_TARGETS(40),
  JOBS_MADE_ONCE(10),
  JOBS_RESOLVED(2), // each had failed before, and so has what webhooks tell
  JOBS_FOR_THE_IDLE(10),
  PAUSES_RESUMES_AND_CANCELS(15),
  COMMANDS(5),
  AGENTS_COMMANDS(5),
  CONTAINERS(2),
  PLAYBOOKS(1),
  CALLS(5),
  WEBHOOKS(2),
  TENANTS_MADE_AND_DROPPED(1),
  TOKENS_DRAWN_AND_REVOKED(3),
  PAGES(6),
  SCRAPES(6),
  STREAMS(6),
  PULLED_JOBS(6),
  SIMULATIONS(6),
  BOOKINGS(6),
  // What came to its end, whoever did it.
  DONE_WORK(1_500),
  DONE_TICKS(15),
  DONE_COMMANDS(5),
  DONE_AGENTS_COMMANDS(5),
  DONE_CONTAINERS(2),
  DONE_PLAYBOOKS(1),
  DONE_CALLS(5),
  DONE_PULLED_JOBS(5),
  DONE_BOOKINGS(5),
  DONE_BY_THE_IDLE(10),
  LOOKS_AT_SOMEBODY_IDLE(2), // for long enough that a job could be seen to be overlooked
  ATTEMPTS_THAT_WERE_NOT_THE_LAST(10),
  RESTARTS(0.3);

  private final double aMinute;

  Feature(double aMinute) {
    this.aMinute = aMinute;
  }

  /** In so many minutes; once at least. */
  long floor(double minutes) {
    return Math.max(1, (long) (aMinute * minutes));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
