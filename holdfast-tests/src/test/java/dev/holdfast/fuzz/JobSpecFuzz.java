package dev.holdfast.fuzz;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.api.NewJobJson;
import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.job.NewJob;
import java.util.List;

/** Jobs as JSON: what was accepted, written and read again is the same job. */
public final class JobSpecFuzz implements FuzzTarget {

  public static void fuzzerTestOneInput(byte[] data) {
    FuzzTarget.run(new JobSpecFuzz(), data);
  }

  @Override
  public List<String> seeds() {
    return List.of(
        "{\"kind\": \"a\"}",
        "{\"kind\": \"a\", \"args\": {\"b\": [1, 2.5, null, true, \"x\"]}, \"queue\": \"q\"}",
        "{\"kind\": \"a\", \"priority\": 5, \"run_at\": \"2026-11-17T09:00:00Z\","
            + " \"max_attempts\": 3, \"timeout_seconds\": 1.5, \"lease_seconds\": 30}",
        "{\"kind\": \"a\", \"delay_seconds\": 0.001, \"tags\": [\"x\", \"y\"],"
            + " \"labels\": [\"gpu\"], \"preferred_host\": \"h\", \"require_host\": true}",
        "{\"kind\": \"a\", \"unique_key\": \"u\", \"unique_scope\": \"live\","
            + " \"target\": \"t\", \"resources\": [{\"name\": \"r\", \"mode\": \"shared\"}]}",
        "{\"kind\": \"a\", \"retry\": {\"type\": \"exponential\", \"base_seconds\": 1,"
            + " \"max_seconds\": 10}, \"on_lease_lost\": \"retry\"}",
        "{\"kind\": \"a\", \"traceparent\":"
            + " \"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\"}",
        "{\"kind\": \"a\", \"args\": 1e400}",
        "{\"kind\": \"a\", \"args\": 7e77777777777777777}", // was a number format exception
        "{\"kind\": \"\\u0000\"}",
        "{\"kind\": \"a\", \"kind\": \"b\"}",
        "[[[[[[[[[[]]]]]]]]]]",
        "null");
  }

  @Override
  public void read(String text) {
    NewJob job = NewJobJson.read(Fields.of("body", Json.parse("body", text)));
    String written = Json.write(NewJobJson.write(job, new JacksonCodec()));
    NewJob again = NewJobJson.read(Fields.of("body", Json.parse("body", written)));
    String twice = Json.write(NewJobJson.write(again, new JacksonCodec()));
    FuzzTarget.check(written.equals(twice), "it is the same again: " + written + " / " + twice);
  }
}
