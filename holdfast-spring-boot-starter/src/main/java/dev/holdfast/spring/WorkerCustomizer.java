package dev.holdfast.spring;

import dev.holdfast.worker.WorkerBuilder;

/**
 * A bean that gives the worker a handler, or several. An application with at least one such bean
 * has a worker.
 *
 * <pre>{@code
 * @Bean
 * WorkerCustomizer welcome(Mailer mailer) {
 *   return worker -> worker.handle(WELCOME, (welcome, job) -> mailer.send(welcome.email()));
 * }
 * }</pre>
 */
@FunctionalInterface
public interface WorkerCustomizer {

  void customize(WorkerBuilder worker);
}
