package dev.holdfast.executor;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Reads the beginning of an answer, and closes the connection if it is too long. Called by one
 * thread at a time, like every subscriber.
 */
final class BoundedBody implements BodySubscriber<BoundedBody.Read> {

  /**
   * The part that was read.
   *
   * @param isCut whether there was more
   */
  record Read(String text, boolean isCut) {}

  private final int maxBytes;
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
  private final CompletableFuture<Read> body = new CompletableFuture<>();
  private Flow.@Nullable Subscription subscription;

  BoundedBody(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  @Override
  public CompletionStage<Read> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    this.subscription = subscription;
    subscription.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    for (ByteBuffer buffer : buffers) {
      int room = maxBytes - kept.size();
      boolean isTooMuch = buffer.remaining() > room;
      byte[] bytes = new byte[isTooMuch ? room : buffer.remaining()];
      buffer.get(bytes);
      kept.writeBytes(bytes);
      if (isTooMuch) {
        end(true);
        return;
      }
    }
  }

  private void end(boolean isCut) {
    if (isCut && subscription != null) {
      subscription.cancel();
    }
    // Bytes that are not UTF-8 are replaced; and JSON in the database cannot contain a NUL.
    String text = kept.toString(StandardCharsets.UTF_8).replace('\0', '\uFFFD');
    body.complete(new Read(text, isCut)); // only the first call has an effect
  }

  @Override
  public void onError(Throwable thrown) {
    body.completeExceptionally(thrown);
  }

  @Override
  public void onComplete() {
    end(false);
  }
}
