package dev.holdfast.worker;

import dev.holdfast.job.Kind;
import dev.holdfast.testkit.TestTenant;
import java.util.UUID;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Jobs for handlers that send an email to somebody. */
abstract class EmailRig {

  record Email(String to) {}

  static final Kind<Email> EMAIL = Kind.of("email", Email.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  UUID enqueue(String to) {
    return tenant.jobs().enqueue(EMAIL.job(new Email(to))).id();
  }
}
