package dev.holdfast.bench.chart;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A drawing that grows shape by shape. It brings its colours for light and for dark, and no font.
 */
final class Svg {

  // One colour per class, each with enough contrast on both grounds.
  private static final String STYLE =
      """
      text { font: 12px system-ui, sans-serif; fill: #1f2328 }
      .ground { fill: #ffffff } .title { font-weight: 600 } .small { font-size: 10px }
      .axis { stroke: #8c959f } .mark { stroke: #8c959f; stroke-dasharray: 3 3 }
      .limit { fill: #afb8c1 } .ours { fill: #1a7f37 } .peer { fill: #54aeff }
      polyline { fill: none; stroke-width: 1.6 }
      .c0 { stroke: #0969da } .c1 { stroke: #bc4c00 } .c2 { stroke: #1a7f37 }
      .c3 { stroke: #8250df } .c4 { stroke: #bf3989 } .c5 { stroke: #9a6700 }
      @media (prefers-color-scheme: dark) {
        text { fill: #e6edf3 } .ground { fill: #0d1117 }
        .limit { fill: #57606a } .ours { fill: #3fb950 } .peer { fill: #1f6feb }
        .c0 { stroke: #58a6ff } .c1 { stroke: #f0883e } .c2 { stroke: #3fb950 }
        .c3 { stroke: #bc8cff } .c4 { stroke: #f778ba } .c5 { stroke: #d29922 }
      }
      """;

  /** How many classes {@code c0}, {@code c1} and so on there are. */
  static final int COLOURS = 6;

  private final int width;
  private final StringBuilder shapes = new StringBuilder();

  Svg(int width) {
    this.width = width;
  }

  /** The whole file, once it is known how high it is. */
  String close(int height) {
    return """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d">
    <style>
    %s</style>
    <rect class="ground" width="100%%" height="100%%"/>
    %s</svg>
    """
        .formatted(width, height, width, height, STYLE, shapes);
  }

  void bar(String style, double x, double y, double wide, double high) {
    add(
        "<rect class='%s' x='%s' y='%s' width='%s' height='%s' rx='2'/>"
            .formatted(style, at(x), at(y), at(wide), at(high)));
  }

  void line(String style, double fromX, double fromY, double toX, double toY) {
    add(
        "<line class='%s' x1='%s' y1='%s' x2='%s' y2='%s'/>"
            .formatted(style, at(fromX), at(fromY), at(toX), at(toY)));
  }

  void curve(String style, List<Point> points) {
    String path =
        points.stream()
            .map(point -> at(point.x()) + "," + at(point.y()))
            .collect(Collectors.joining(" "));
    add("<polyline class='%s' points='%s'/>".formatted(style, path));
  }

  void write(Anchor anchor, String style, double x, double y, String words) {
    add(
        "<text class='%s' text-anchor='%s' x='%s' y='%s'>%s</text>"
            .formatted(style, anchor.word, at(x), at(y), escaped(words)));
  }

  record Point(double x, double y) {}

  /** Which part of the words is at the given place. */
  enum Anchor {
    LEFT("start"),
    MIDDLE("middle"),
    RIGHT("end");

    private final String word;

    Anchor(String word) {
      this.word = word;
    }
  }

  private void add(String shape) {
    shapes.append(shape).append('\n');
  }

  /** With a point, wherever this runs. */
  private static String at(double place) {
    return String.format(Locale.ROOT, "%.1f", place);
  }

  private static String escaped(String words) {
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
