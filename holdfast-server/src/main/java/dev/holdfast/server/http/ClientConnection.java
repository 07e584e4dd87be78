package dev.holdfast.server.http;

import io.javalin.http.Context;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.util.BufferUtil;

/** The connection on which a request came. */
final class ClientConnection {

  private static final int ROOM = 1_024;

  private ClientConnection() {}

  /**
   * Whether the client has hung up. Nothing else reads from the connection while its request is
   * being answered, so it would not be noticed otherwise. Called by one thread at a time.
   */
  static boolean isCut(Context http) {
    Connection connection = of(http);
    EndPoint end = connection.getEndPoint();
    if (!end.isOpen()) {
      return true;
    }
    try {
      ByteBuffer ahead = BufferUtil.allocate(ROOM);
      int read = end.fill(ahead);
      if (read > 0 && connection instanceof Connection.UpgradeTo next) {
        next.onUpgradeTo(ahead); // the client has already sent its next request: keep it
      }
      return read < 0;
    } catch (IOException e) {
      return true;
    }
  }

  static Connection of(Context http) {
    return ServletContextRequest.getServletContextRequest(http.req())
        .getConnectionMetaData()
        .getConnection();
  }
}
