package dev.holdfast.server;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What a node measures of itself, as Prometheus reads it. */
final class Figures {

  private static final Pattern NAMES = Pattern.compile("[{,](queue|kind|schedule)=\"");

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  Figures() {
    new JvmMemoryMetrics().bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
  }

  MeterRegistry registry() {
    return registry;
  }

  String text() {
    return registry.scrape();
  }

  /**
   * Without what has a name of somebody's: queues, kinds and schedules are of whichever tenants'
   * jobs this node has run.
   */
  String textWithoutNames() {
    return registry
        .scrape()
        .lines()
        .filter(line -> line.startsWith("#") || !NAMES.matcher(line).find())
        .collect(Collectors.joining("\n", "", "\n"));
  }
}
