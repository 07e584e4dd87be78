package dev.holdfast.executor;

import com.github.dockerjava.api.async.ResultCallback;
import com.github.dockerjava.api.model.Frame;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The output of a container as a stream. The engine's thread waits for the reader. */
final class FrameStream extends ResultCallback.Adapter<Frame> {

  private static final Logger log = LoggerFactory.getLogger(FrameStream.class);

  private static final int ROOM = 256 * 1024;

  private final PipedInputStream input = new PipedInputStream(ROOM);
  private final PipedOutputStream output = new PipedOutputStream();

  FrameStream() throws IOException {
    output.connect(input);
  }

  InputStream input() {
    return input;
  }

  @Override
  public void onNext(Frame frame) {
    try {
      output.write(frame.getPayload());
    } catch (IOException e) {
      log.debug("Nobody reads a container's output any more", e);
    }
  }

  @Override
  public void onError(Throwable thrown) {
    log.debug("A container's output ended early", thrown); // mostly because we stopped reading
    end();
  }

  @Override
  public void onComplete() {
    super.onComplete();
    end();
  }

  /** Ends the stream, and asks the engine for no more: one that is busy may never end it. */
  @Override
  public void close() throws IOException {
    end();
    super.close();
  }

  private void end() {
    try {
      output.close();
    } catch (IOException e) {
      log.debug("A container's output cannot be closed", e);
    }
  }
}
