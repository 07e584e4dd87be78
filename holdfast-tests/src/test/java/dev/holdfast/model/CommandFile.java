package dev.holdfast.model;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import dev.holdfast.model.Sequences.Failed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A sequence as a file, a command a line. A seed means something only as long as the generator does
 * not change; commands mean the same for as long as there are such commands.
 */
final class CommandFile {

  private static final String ENDING = ".jsonl";

  // A component isPending is called that, as in the record, and not pending.
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .changeDefaultVisibility(checker -> checker.withIsGetterVisibility(Visibility.NONE))
          .build();

  private CommandFile() {}

  /** Into a file named after the sequence, which can be moved among those that are kept. */
  static Path write(Path directory, Failed failed) throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add("# sequence " + failed.name());
    String.valueOf(failed.why().getMessage()).lines().map(line -> "# " + line).forEach(lines::add);
    failed.commands().forEach(command -> lines.add(line(command)));
    Files.createDirectories(directory);
    String name = failed.name().replaceFirst("\\.jsonl$", "").replaceAll("\\W+", "-");
    return Files.write(directory.resolve(name + ENDING), lines);
  }

  static List<Command> read(Path file) throws IOException {
    return Files.readAllLines(file).stream()
        .filter(line -> !line.isBlank() && !line.startsWith("#"))
        .map(CommandFile::command)
        .toList();
  }

  static boolean isOne(String name) {
    return name.endsWith(ENDING);
  }

  /** All that are kept in a directory, in the order of their names. */
  static List<Path> in(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> isOne(file.toString())).sorted().toList();
    }
  }

  static String line(Command command) {
    return JSON.writeValueAsString(Map.of(command.getClass().getSimpleName(), command));
  }

  static Command command(String line) {
    JsonNode tree = JSON.readTree(line);
    String name = tree.propertyNames().iterator().next();
    Class<?> type =
        Arrays.stream(Command.class.getPermittedSubclasses())
            .filter(each -> each.getSimpleName().equals(name))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException("there is no command " + name));
    return (Command) JSON.treeToValue(tree.get(name), type);
  }
}
