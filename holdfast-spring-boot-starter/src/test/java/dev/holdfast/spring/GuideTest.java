package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.job.Kind;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestTenant;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Every Java snippet of docs/spring-boot.md stands in this file, word for word, and runs. */
@Isolated("an application that starts sets up logging, for all")
class GuideTest {

  record Welcome(String email) {}

  static final Kind<Welcome> WELCOME = Kind.of("welcome", Welcome.class);

  static final Kind<String> DIGEST = Kind.of("digest", String.class);

  @Service
  static class Registration {

    private final JdbcTemplate jdbc;
    private final TransactionalJobs jobs;
    private final Holdfast holdfast;
    private final TenantName tenant;

    Registration(JdbcTemplate jdbc, TransactionalJobs jobs, Holdfast holdfast, TenantName tenant) {
      this.jdbc = jdbc;
      this.jobs = jobs;
      this.holdfast = holdfast;
      this.tenant = tenant;
    }

    @Transactional
    public void register(String email) {
      jobs.enqueue(WELCOME.job(new Welcome(email)));
      jdbc.update("INSERT INTO account (email) VALUES (?)", email);
    }

    @Transactional
    public void refuse(String email) {
      holdfast.jobs(tenant).enqueue(WELCOME.job(new Welcome(email)));
      throw new IllegalArgumentException(email);
    }
  }

  static class Mailer {

    final BlockingQueue<String> sent = new LinkedBlockingQueue<>();

    void send(String email) {
      sent.add(email);
    }
  }

  @SpringBootConfiguration
  @EnableAutoConfiguration
  @Import({Registration.class, Mailer.class})
  static class Application {

    @Bean
    WorkerCustomizer welcome(Mailer mailer) {
      return worker -> worker.handle(WELCOME, (welcome, job) -> mailer.send(welcome.email()));
    }

    @Bean
    ApplicationRunner kinds(TransactionalJobs jobs) {
      return arguments -> jobs.prepare(WELCOME.job(new Welcome("")));
    }

    @Bean
    Schedule digest() {
      return Schedule.of(
          "daily_digest",
          Trigger.cron("30 7 * * MON-FRI", ZoneId.of("Europe/Berlin")),
          DIGEST.job("everybody"));
    }
  }

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void from_a_dependency_to_a_running_job() throws Exception {
    try (ConfigurableApplicationContext context =
        SpringApplication.run(
            Application.class,
            "--spring.application.name=shop",
            "--spring.main.banner-mode=off",
            "--spring.datasource.url=" + Applications.urlInSchemaOf(tenant),
            "--spring.datasource.hikari.maximum-pool-size=8",
            "--spring.sql.init.mode=always",
            "--spring.sql.init.schema-locations=classpath:account.sql",
            "--holdfast.tenant=" + tenant.name())) {
      Registration registration = context.getBean(Registration.class);

      registration.register("ada@example.org");
      assertThat(context.getBean(Mailer.class).sent.take()).isEqualTo("ada@example.org");

      assertThatThrownBy(() -> registration.register("ada@example.org"))
          .isInstanceOf(DuplicateKeyException.class);
      assertThat(tenant.query("SELECT id FROM {schema}.job_all")).hasSize(1);
      assertThat(tenant.schedules().get("daily_digest")).isPresent();

      assertThatThrownBy(() -> registration.refuse("bob@example.org"))
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(context.getBean(Mailer.class).sent.take()).isEqualTo("bob@example.org");
    }
  }

  @Test
  void every_java_snippet_of_the_guide_is_compiled_here() throws Exception {
    Path module = Path.of("").toAbsolutePath();
    String guide = Files.readString(module.resolveSibling("docs/spring-boot.md"));
    String here =
        squeezed(
            Files.readString(module.resolve("src/test/java/dev/holdfast/spring/GuideTest.java")));
    List<String> snippets =
        Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
            .matcher(guide)
            .results()
            .map(found -> found.group(1))
            .toList();

    assertThat(snippets).hasSizeGreaterThan(3);
    assertThat(snippets).allSatisfy(snippet -> assertThat(here).contains(squeezed(snippet)));
  }

  private static String squeezed(String code) {
    return code.replaceAll("\\s+", "");
  }
}
