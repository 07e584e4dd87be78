package dev.holdfast.spring;

import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastBuilder;

/** A bean that says what neither a property nor another bean can about {@link Holdfast}. */
@FunctionalInterface
public interface HoldfastCustomizer {

  void customize(HoldfastBuilder holdfast);
}
