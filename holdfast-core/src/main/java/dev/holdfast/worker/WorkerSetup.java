package dev.holdfast.worker;

import dev.holdfast.codec.Codec;
import java.util.List;
import java.util.concurrent.ThreadFactory;

/** What the application brings to a worker. */
record WorkerSetup(
    Handlers handlers,
    List<Interceptor> interceptors,
    Codec codec,
    WorkerListener listener,
    ThreadFactory threads) {

  WorkerSetup {
    interceptors = List.copyOf(interceptors);
  }
}
