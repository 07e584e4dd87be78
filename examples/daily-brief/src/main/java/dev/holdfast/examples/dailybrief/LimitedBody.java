package dev.holdfast.examples.dailybrief;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** A body that is given up once it is too large, however long it would go on. */
final class LimitedBody implements BodySubscriber<byte[]> {

  private final int mostBytes;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final CompletableFuture<byte[]> body = new CompletableFuture<>();
  private Flow.@Nullable Subscription subscription;

  LimitedBody(int mostBytes) {
    this.mostBytes = mostBytes;
  }

  @Override
  public CompletionStage<byte[]> getBody() {
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
      byte[] part = new byte[buffer.remaining()];
      buffer.get(part);
      if (part.length > mostBytes - bytes.size()) {
        giveUp();
        return;
      }
      bytes.writeBytes(part);
    }
  }

  private void giveUp() {
    body.completeExceptionally(new IOException("larger than " + mostBytes + " bytes"));
    if (subscription != null) {
      subscription.cancel();
    }
  }

  @Override
  public void onError(Throwable thrown) {
    body.completeExceptionally(thrown);
  }

  @Override
  public void onComplete() {
    body.complete(bytes.toByteArray());
  }
}
