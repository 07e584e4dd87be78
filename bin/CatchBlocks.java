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
 * Lists the catch blocks of some sources and whether a run came past each, by a report of JaCoCo's.
 * Run by {@code ./holdfast prove faults --coverage true}.
 */
final class CatchBlocks {

  private static final Pattern CATCH = Pattern.compile("\\bcatch \\(([^)]*)\\) \\{");

  /** One line of a source: instructions that were missed and that were not. */
  private record Line(int missed, int covered) {}

  private record Block(Path file, int line, String caught, boolean entered) {

    String shown() {
      return "%s %s:%d catch (%s)"
          .formatted(entered ? "entered    " : "NOT entered", file, line, caught);
    }
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Map<Integer, Line>> lines = read(Path.of(arguments[0]));
    Path sources = Path.of(arguments[1]);
    List<Block> blocks = new ArrayList<>();
    try (Stream<Path> files = Files.walk(sources)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".java")).sorted().toList()) {
        Path name = sources.relativize(file);
        blocks.addAll(blocks(file, name, lines.getOrDefault(name.toString(), Map.of())));
      }
    }
    blocks.forEach(block -> System.out.println(block.shown()));
    System.out.printf(
        "%d of %d catch blocks were entered%n",
        blocks.stream().filter(Block::entered).count(), blocks.size());
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

  private static List<Block> blocks(Path file, Path name, Map<Integer, Line> lines)
      throws IOException {
    List<Block> blocks = new ArrayList<>();
    List<String> text = Files.readAllLines(file);
    for (int i = 0; i < text.size(); i++) {
      Matcher found = CATCH.matcher(text.get(i));
      if (found.find()) {
        blocks.add(new Block(name, i + 1, found.group(1), isEntered(text, i, lines)));
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
