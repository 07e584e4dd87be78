package dev.holdfast.executor;

import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.fuzz.FuzzTarget;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Arguments of commands, containers and calls: what is accepted is within what was allowed. */
public final class ArgumentsFuzz implements FuzzTarget {

  private static final AllowedHosts HOSTS =
      new AllowedHosts(
          Set.of("api.example.org", "*.example.com"),
          host -> new InetAddress[] {InetAddress.getLoopbackAddress()});
  private static final AllowedImages IMAGES = new AllowedImages(Set.of("registry.example/team/*"));

  public static void fuzzerTestOneInput(byte[] data) {
    FuzzTarget.run(new ArgumentsFuzz(), data);
  }

  @Override
  public List<String> seeds() {
    return List.of(
        "{\"argv\": [\"ls\", \"-l\"], \"cwd\": \"/\", \"env\": {\"A\": \"b\"}, \"umask\": \"027\"}",
        "{\"argv\": [\"echo a\"], \"shell\": true, \"user\": \"nobody\", \"stdin\": \"x\"}",
        "{\"url\": \"https://api.example.org/x?y\", \"method\": \"post\", \"body\": \"z\"}",
        "{\"url\": \"http://a.example.com:8080\", \"timeout_seconds\": 0.5}",
        "{\"url\": \"http://a.example.com@169.254.169.254/\"}",
        "{\"image\": \"registry.example/team/app:1\", \"command\": [\"x\"], \"pids\": 10}",
        "{\"image\": \"registry.example/team/../../x\", \"name\": \"a\"}",
        "{\"image\": \"registry.example/team/\", \"name\": \"a\"}",
        "{\"image\": \"x\", \"volumes\": [{\"host\": \"/a\", \"container\": \"/b\", \"mode\":"
            + " \"ro\"}]}",
        "[]");
  }

  @Override
  public void read(String text) {
    Object json = new JacksonCodec().decode(text, Object.class);
    process(json);
    http(json);
    container(json);
  }

  private static void process(Object json) {
    try {
      ProcessArgs args = ProcessArgs.read(json);
      FuzzTarget.check(!args.argv().isEmpty(), "there is a program");
      FuzzTarget.check(args.argv().stream().noneMatch(each -> each.contains("\0")), "no NUL");
      FuzzTarget.check(
          args.env().keySet().stream().noneMatch(name -> name.isEmpty() || name.contains("=")),
          "names of variables");
      FuzzTarget.check(args.user().map(user -> !user.startsWith("-")).orElse(true), "no option");
    } catch (HoldfastException e) {
      FuzzTarget.check(e.getMessage() != null, "a refusal says why");
    }
  }

  private static void http(Object json) {
    try {
      HttpArgs args = HttpArgs.read(json);
      String host = args.url().getHost();
      FuzzTarget.check(args.url().getUserInfo() == null, "nobody's name");
      FuzzTarget.check(
          !HOSTS.allow(host)
              || host.toLowerCase(java.util.Locale.ROOT)
                  .matches("api\\.example\\.org|[a-z0-9.-]+\\.example\\.com"),
          "a host that is allowed is one: " + host);
      FuzzTarget.check(args.with(Map.of("A", "b")).isSameSite(args.url()), "the same site");
    } catch (HoldfastException e) {
      FuzzTarget.check(e.getMessage() != null, "a refusal says why");
    }
  }

  private static void container(Object json) {
    try {
      ContainerArgs args = ContainerArgs.read(json);
      FuzzTarget.check(
          !IMAGES.allow(args.image())
              || (args.image().matches("registry\\.example/team/[A-Za-z0-9._/:@-]*[A-Za-z0-9._-]")
                  && !args.image().contains("..")),
          "an image that is allowed is one: " + args.image());
      FuzzTarget.check(
          args.volumes().stream().noneMatch(volume -> volume.container().contains(":")), "a path");
      FuzzTarget.check(args.name().map(name -> !name.startsWith("-")).orElse(true), "no option");
    } catch (HoldfastException e) {
      FuzzTarget.check(e.getMessage() != null, "a refusal says why");
    }
  }
}
