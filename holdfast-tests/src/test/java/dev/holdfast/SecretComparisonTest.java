package dev.holdfast;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What is secret is compared in a time that does not depend on where it differs. Tokens and
 * sessions are not compared at all: their hashes are looked up (TokenLookupTest).
 */
class SecretComparisonTest {

  private static final JavaClasses SERVER =
      new ClassFileImporter()
          .withImportOption(location -> location.contains("holdfast-server"))
          .importPackages("dev.holdfast.server");

  private static final String SECRET =
      "(?:secret|sign|signature|token|csrf|session|password|bearer|expected|hash)";

  /** Something that is called like a secret, and is compared as any text, from either side. */
  private static final Pattern COMPARED =
      Pattern.compile(
          "(?i)\\b"
              + SECRET
              + "\\w*(?:\\([^()]*\\))?\\.(?:equals|equalsIgnoreCase|compareTo|contentEquals)\\("
              + "|(?:\\.equals|equalsIgnoreCase|contentEquals|Objects\\.equals|Arrays\\.equals)"
              + "\\((?:[^()\"]*,\\s*)?"
              + SECRET
              + "\\b");

  @Test
  void signatures_and_proofs_of_forms_are_compared_in_constant_time() {
    classes()
        .that()
        .haveSimpleName("SignedRequest")
        .or()
        .haveSimpleName("Visit")
        .should()
        .callMethod(MessageDigest.class, "isEqual", byte[].class, byte[].class)
        .check(SERVER);
  }

  @Test
  void who_guards_the_door_compares_bytes_in_no_other_way() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "dev.holdfast.server.auth..",
            "dev.holdfast.server.http..",
            "dev.holdfast.server.tenancy..",
            "dev.holdfast.server.dialect.pull..",
            "dev.holdfast.server.notify..")
        .should()
        .callMethod(Arrays.class, "equals", byte[].class, byte[].class)
        .orShould()
        .callMethod(Arrays.class, "compare", byte[].class, byte[].class)
        .orShould()
        .callMethod(Arrays.class, "mismatch", byte[].class, byte[].class)
        .check(SERVER);
  }

  @Test
  void no_line_compares_what_is_called_a_secret_as_any_text() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("..", "holdfast-server", "src", "main", "java"))) {
      List<Path> sources = files.filter(file -> file.toString().endsWith(".java")).toList();
      assertThat(sources).hasSizeGreaterThan(100);
      for (Path source : sources) {
        assertThat(Files.readAllLines(source))
            .as("%s: MessageDigest.isEqual is for that", source)
            .noneMatch(line -> COMPARED.matcher(line).find());
      }
    }
  }

  @Test
  void such_a_line_would_be_found() {
    assertThat(
            List.of(
                "if (secret.equals(given)) {",
                "return given.equals(secret);",
                "sign(http, time).contentEquals(given)",
                "Objects.equals(given, token)",
                "Arrays.equals(said, expected)",
                "csrf(secret, tenant).equals(given)",
                "tokenOf.equalsIgnoreCase(x)"))
        .allMatch(line -> COMPARED.matcher(line).find());
    assertThat(List.of("name.equals(\"secrets\")", "theme.equals(\"light\")", "a.equals(b)"))
        .noneMatch(line -> COMPARED.matcher(line).find());
  }
}
