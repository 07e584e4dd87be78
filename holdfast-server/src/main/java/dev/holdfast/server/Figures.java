package dev.holdfast.server;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The metrics of a node, in the format of Prometheus. */
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
   * Leaves out metrics that name a queue, a kind or a schedule, because these belong to whichever
   * tenants' jobs this node has run.
   */
  String textWithoutNames() {
    return registry
        .scrape()
        .lines()
        .filter(line -> line.startsWith("#") || !NAMES.matcher(line).find())
        .collect(Collectors.joining("\n", "", "\n"));
  }
}
