package dev.holdfast.server.ui;

import dev.holdfast.server.http.Answer;
import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.output.StringOutput;

/**
 * Renders pages from templates, which the build compiles into classes of this package. Values are
 * escaped according to where they stand. Thread-safe.
 */
final class Html {

  private static final TemplateEngine TEMPLATES =
      TemplateEngine.createPrecompiled(
          null, ContentType.Html, Html.class.getClassLoader(), Html.class.getPackageName());

  private Html() {}

  static Answer page(String template, Object view) {
    return page(200, template, view);
  }

  static Answer page(int status, String template, Object view) {
    StringOutput out = new StringOutput();
    TEMPLATES.render(template + ".jte", view, out);
    return Answer.page(status, out.toString());
  }
}
