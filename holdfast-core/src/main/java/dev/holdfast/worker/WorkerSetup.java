package dev.holdfast.worker;

import dev.holdfast.codec.Codec;
import java.util.List;

/** What the application brings to a worker. */
record WorkerSetup(
    Handlers handlers, List<Interceptor> interceptors, Codec codec, WorkerListener listener) {

  WorkerSetup {
    interceptors = List.copyOf(interceptors);
  }
}
