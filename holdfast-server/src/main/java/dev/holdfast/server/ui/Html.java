package dev.holdfast.server.ui;

import dev.holdfast.server.http.Answer;
import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.output.StringOutput;

/**
 * Pages from templates, which the build made into classes of this package. Whatever is put into one
 * is text there, by where it stands. Thread-safe.
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
