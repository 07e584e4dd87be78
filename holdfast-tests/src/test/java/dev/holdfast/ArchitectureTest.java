package dev.holdfast;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.holdfast.job.JobIds;
import dev.holdfast.schedule.Ticker;
import dev.holdfast.testkit.Covers;
import java.time.Clock;
import java.util.Calendar;
import java.util.Date;
import java.util.Timer;
import java.util.concurrent.Executors;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** What may know what. The reasons are in docs/architecture.md and STYLE. */
class ArchitectureTest {

  private static final JavaClasses CORE =
      new ClassFileImporter()
          .withImportOption(location -> location.contains("holdfast-core"))
          .importPackages("dev.holdfast");

  private static final JavaClasses PUBLISHED =
      new ClassFileImporter()
          .withImportOption(location ->
              location.contains("holdfast-core")
                  || location.contains("holdfast-executors")
                  || location.contains("holdfast-agent")
                  || location.contains("testkit"))
          .importPackages("dev.holdfast");

  private static final JavaClasses EXECUTORS =
      new ClassFileImporter()
          .withImportOption(location -> location.contains("holdfast-executors"))
          .importPackages("dev.holdfast.executor");

  private static final JavaClasses AGENT =
      new ClassFileImporter()
          .withImportOption(location -> location.contains("holdfast-agent"))
          .importPackages("dev.holdfast.agent");

  @Test
  void jobs_and_what_becomes_of_them_are_pure_java() {
    classes()
        .that()
        .resideInAPackage("dev.holdfast.job..")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "java.lang..",
            "java.nio.charset..",
            "java.security..",
            "java.time..",
            "java.util..",
            "org.jspecify..",
            "dev.holdfast.error..",
            "dev.holdfast.job..")
        .check(CORE);
  }

  @Test
  void workers_know_leases_and_no_database() {
    noClasses()
        .that()
        .resideInAPackage("dev.holdfast.worker..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("java.sql..", "javax.sql..", "org.jdbi..", "org.postgresql..")
        .check(CORE);
  }

  @Test
  void executors_know_workers_and_no_database() {
    classes()
        .that()
        .resideInAPackage("dev.holdfast.executor..")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "java.io..",
            "java.lang..",
            "java.net..",
            "java.nio..",
            "java.time..",
            "java.util..",
            "org.jspecify..",
            "org.slf4j..",
            "com.github.dockerjava..",
            "dev.holdfast.codec..",
            "dev.holdfast.error..",
            "dev.holdfast.executor..",
            "dev.holdfast.fleet..",
            "dev.holdfast.job..",
            "dev.holdfast.loop..",
            "dev.holdfast.worker..")
        .because("agents run them, which have no database")
        .check(EXECUTORS);
  }

  @Test
  void agents_know_the_api_and_no_database() {
    classes()
        .that()
        .resideInAPackage("dev.holdfast.agent..")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "java.io..",
            "java.lang..",
            "java.net..",
            "java.nio..",
            "java.time..",
            "java.util..",
            "org.jspecify..",
            "org.slf4j..",
            "tools.jackson.databind..",
            "dev.holdfast.agent..",
            "dev.holdfast.api..",
            "dev.holdfast.codec..",
            "dev.holdfast.error..",
            "dev.holdfast.executor..",
            "dev.holdfast.job..",
            "dev.holdfast.lease..",
            "dev.holdfast.loop..",
            "dev.holdfast.tenant..",
            "dev.holdfast.wake..",
            "dev.holdfast.worker..")
        .check(AGENT);
  }

  @Test
  void only_one_class_enters_jdbi() {
    noClasses()
        .that()
        .doNotHaveSimpleName("Db")
        .should()
        .dependOnClassesThat()
        .areAssignableTo(Jdbi.class)
        .because("what fails must come out as a HoldfastException, through one door")
        .check(CORE);
  }

  @Test
  void packages_form_no_cycles() {
    slices().matching("dev.holdfast.(*)..").should().beFreeOfCycles().check(CORE);
  }

  @Test
  void only_loops_have_platform_threads() {
    noClasses()
        .that()
        .resideOutsideOfPackage("dev.holdfast.loop..")
        .should()
        .callConstructorWhere(target(owner(assignableTo(Thread.class))))
        .orShould()
        .callMethod(Thread.class, "ofPlatform")
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(Executors.class)
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(Timer.class)
        .because("threads that nobody named and nobody stops outlive their worker")
        .check(CORE);
  }

  @Test
  void only_ids_are_made_from_this_machines_clock() {
    noClasses()
        .that()
        .doNotBelongToAnyOf(JobIds.class)
        .should()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethodWhere(target(name("now")).and(target(owner(nameMatching("java\\.time\\..*")))))
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(Date.class)
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(Calendar.class)
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(Clock.class)
        .because("the database's clock decides; the monotonic clock protects")
        .check(CORE);
  }

  @Test
  void names_say_something() {
    noClasses().should().haveSimpleNameContaining("Util").check(PUBLISHED);
    noClasses().should().haveSimpleNameContaining("Helper").check(PUBLISHED);
    noClasses().should().haveSimpleNameContaining("Impl").check(PUBLISHED);
    noClasses().should().haveSimpleNameContaining("Manager").check(PUBLISHED);
  }

  @Test
  void only_codecs_know_jackson() {
    noClasses()
        .that()
        .resideOutsideOfPackage("dev.holdfast.codec..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("tools.jackson..", "com.fasterxml..")
        .check(CORE);
  }

  @Covers("D1")
  @Test
  void nobody_decides_about_slots_but_a_scheduler() {
    noClasses()
        .that()
        .resideOutsideOfPackage("dev.holdfast.schedule")
        .and()
        .areNotAssignableTo(Holdfast.class)
        .should()
        .dependOnClassesThat()
        .areAssignableTo(Ticker.class)
        .check(CORE);
    noClasses()
        .that()
        .resideInAnyPackage("dev.holdfast.worker..", "dev.holdfast.lease..", "dev.holdfast.queue..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("dev.holdfast.schedule")
        .check(CORE);
  }

  @Test
  void only_metrics_know_micrometer() {
    noClasses()
        .that()
        .resideOutsideOfPackage("dev.holdfast.metrics..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.micrometer..")
        .because("it is an optional dependency")
        .check(CORE);
  }

  @Test
  void every_package_is_null_marked() {
    assertThat(CORE.getPackage("dev.holdfast").getSubpackagesInTree())
        .filteredOn(inner -> !inner.getClasses().isEmpty())
        .isNotEmpty()
        .allMatch(inner -> inner.isAnnotatedWith(NullMarked.class), "is @NullMarked")
        .extracting(JavaPackage::getName)
        .contains("dev.holdfast.job", "dev.holdfast.lease");
  }
}
