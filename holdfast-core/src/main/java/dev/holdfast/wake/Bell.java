package dev.holdfast.wake;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** Wakes waiting workers of this JVM. Thread-safe. */
public final class Bell {

  private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();

  /**
   * Subscribes to rings.
   *
   * @param listener gets the tenant that may have work; must not block
   * @return closes the subscription
   */
  public AutoCloseable onRing(Consumer<String> listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  public void ring(String tenant) {
    listeners.forEach(listener -> listener.accept(tenant));
  }
}
