import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/**
 * Lists the catch blocks of some sources and which runs came past each, by reports of JaCoCo's that
 * are named after them; last of all those that nobody came past. Run by {@code ./holdfast prove
 * faults --coverage true}, and {@code all}.
 */
final class CatchBlocks {

  private static final Pattern CATCH = Pattern.compile("\\bcatch \\(([^)]*)\\) \\{");

  /** One line of a source: instructions that were missed and that were not. */
  private record Line(int missed, int covered) {}

  private record Block(Path file, int line, String caught, List<String> enteredBy) {

    boolean entered() {
      return !enteredBy.isEmpty();
    }

    String shown() {
      return "%-20s %s:%d catch (%s)"
          .formatted(
              entered() ? "by " + String.join(", ", enteredBy) : "by NOBODY", file, line, caught);
    }
  }

  /** What one run came past, by file and line. */
  private record Report(String name, Map<String, Map<Integer, Line>> files) {}

  public static void main(String[] arguments) throws Exception {
    Path sources = Path.of(arguments[0]);
    List<Report> reports = new ArrayList<>();
    for (String report : List.of(arguments).subList(1, arguments.length)) {
      String name = Path.of(report).getFileName().toString().replaceFirst("\\.xml$", "");
      reports.add(new Report(name, read(Path.of(report))));
    }
    List<Block> blocks = new ArrayList<>();
    try (Stream<Path> files = Files.walk(sources)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".java")).sorted().toList()) {
        blocks.addAll(blocks(file, sources.relativize(file), reports));
      }
    }
    blocks.forEach(block -> System.out.println(block.shown()));
    for (Report report : reports) {
      System.out.printf(
          "%d of %d catch blocks were entered by %s%n",
          blocks.stream().filter(block -> block.enteredBy.contains(report.name)).count(),
          blocks.size(),
          report.name);
    }
    List<Block> left = blocks.stream().filter(block -> !block.entered()).toList();
    System.out.printf("%d were entered by nobody:%n", left.size());
    left.forEach(block -> System.out.printf("  %s:%d%n", block.file, block.line));
  }

  private static Map<String, Map<Integer, Line>> read(Path report) throws Exception {
    DocumentBuilder builder = DocumentBuilderFactory.newInstance().newDocumentBuilder();
    builder.setEntityResolver((id, system) -> new InputSource(new StringReader(""))); // its DTD
    NodeList files = builder.parse(report.toFile()).getElementsByTagName("sourcefile");
    Map<String, Map<Integer, Line>> found = new HashMap<>();
    for (int i = 0; i < files.getLength(); i++) {
      Element file = (Element) files.item(i);
      String folder = ((Element) file.getParentNode()).getAttribute("name");
      Map<Integer, Line> lines = new HashMap<>();
      NodeList all = file.getElementsByTagName("line");
      for (int j = 0; j < all.getLength(); j++) {
        Element line = (Element) all.item(j);
        lines.put(
            number(line, "nr"), new Line(number(line, "mi"), number(line, "ci")));
      }
      found.put(folder + "/" + file.getAttribute("name"), lines);
    }
    return found;
  }

  private static int number(Element line, String name) {
    return Integer.parseInt(line.getAttribute(name));
  }

  private static List<Block> blocks(Path file, Path name, List<Report> reports)
      throws IOException {
    List<Block> blocks = new ArrayList<>();
    List<String> text = Files.readAllLines(file);
    for (int i = 0; i < text.size(); i++) {
      Matcher found = CATCH.matcher(text.get(i));
      if (found.find()) {
        List<String> enteredBy = new ArrayList<>();
        for (Report report : reports) {
          if (isEntered(text, i, report.files.getOrDefault(name.toString(), Map.of()))) {
            enteredBy.add(report.name);
          }
        }
        blocks.add(new Block(name, i + 1, found.group(1), enteredBy));
      }
    }
    return blocks;
  }

  // By the first line in it that does something. One that does nothing was entered if nothing of
  // the line that opens it was missed; with the end of the try block on it, that line says no more.
  private static boolean isEntered(List<String> text, int opens, Map<Integer, Line> lines) {
    int depth = 1;
    for (int i = opens + 1; i < text.size() && depth > 0; i++) {
      Line line = lines.get(i + 1);
      if (line != null && !text.get(i).strip().startsWith("}")) {
        return line.covered > 0;
      }
      depth += count(text.get(i), '{') - count(text.get(i), '}');
    }
    Line line = lines.get(opens + 1);
    return line != null && line.covered > 0 && line.missed == 0;
  }

  private static long count(String text, char what) {
    return text.chars().filter(each -> each == what).count();
  }
}
