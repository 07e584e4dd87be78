package dev.holdfast.fault;

import java.util.Optional;

/** Says where what goes wrong. */
@FunctionalInterface
public interface Script {

  Script NOTHING = (number, point, moment) -> Optional.empty();

  /**
   * What goes wrong there, if anything.
   *
   * @param number counts the points from 0, from when the script began
   */
  Optional<Fault> at(int number, Point point, Moment moment);

  /** One fault at one point. */
  record Once(int number, Moment moment, Fault fault) implements Script {

    @Override
    public Optional<Fault> at(int number, Point point, Moment moment) {
      return number == this.number && moment == this.moment ? Optional.of(fault) : Optional.empty();
    }
  }
}
