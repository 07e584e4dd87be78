package dev.holdfast.server.http;

import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/** Answers requests that never reach a route, like a path with bad escapes, in the usual style. */
final class UnreadableRequests extends ErrorHandler {

  private final Style.Neighbours neighbours;

  UnreadableRequests(Style.Neighbours neighbours) {
    this.neighbours = neighbours;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    Answer answer = answer(request, response.getStatus());
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, answer.contentType());
    Content.Sink.write(response, true, answer.body(), callback);
    return true;
  }

  private Answer answer(Request request, int status) {
    String path = String.valueOf(request.getHttpURI().getPath());
    return neighbours
        .of(path)
        .answer(
            status >= 500
                ? new Refusal(status, "INTERNAL", "This request could not be answered")
                : new Refusal(status, "UNREADABLE", "This is not a request that can be read"));
  }
}
