package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.worker.Worker;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Which hosts a call may reach, and by which spelling. */
class AllowedHostsTest extends HttpRig {

  @Test
  void only_hosts_that_are_allowed_are_called() {
    Job byDefault = run(ExecutorConfig.DEFAULTS, get("/echo"));
    Job byOtherName =
        run(HERE, call(Map.of("url", url("/echo").replace("127.0.0.1", "localhost"))));

    assertThat(List.of(byDefault, byOtherName))
        .allSatisfy(job -> {
          assertThat(job.state()).isEqualTo(JobState.FAILED);
          assertThat(job.errorCode()).contains("HOST_NOT_ALLOWED");
        });
  }

  @Test
  void a_star_stands_for_all_names_below() {
    AllowedHosts hosts = new AllowedHosts(Set.of("api.Example.org", "*.example.com"));

    assertThat(List.of("api.example.org", "API.EXAMPLE.ORG", "a.example.com", "a.b.example.com"))
        .allMatch(hosts::allow);
    assertThat(List.of("example.org", "x.api.example.org", "example.com", "badexample.com", ""))
        .noneMatch(hosts::allow);
    assertThatThrownBy(() -> new AllowedHosts(Set.of("*"))).isInstanceOf(HoldfastException.class);
    assertThatThrownBy(() -> new AllowedHosts(Set.of("a.org/x")))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("executors.allowed-hosts");
  }

  @Test
  void an_address_in_another_spelling_is_not_the_one_that_is_allowed() {
    List<String> spellings =
        List.of(
            "localhost",
            "localhost.",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "127.1",
            "127.0.0.1.",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "127.0.0.2",
            "127.0.0.1.nip.io",
            "169.254.169.254",
            "127.0.0.1%2523@169.254.169.254",
            "127.0.0.1\\@169.254.169.254");
    for (String host : spellings) {
      Job job = run(HERE, call(Map.of("url", url("/echo").replace("127.0.0.1", host))));
      assertThat(job.state()).as(host).isEqualTo(JobState.FAILED);
      assertThat(job.errorCode().orElseThrow())
          .as(host)
          .isIn("HOST_NOT_ALLOWED", "INVALID_ARGUMENT");
    }
    for (String scheme : List.of("file", "ftp", "gopher", "jar:http", "ws", "unix")) {
      assertRefused(Map.of("url", url("/echo").replaceFirst("http", scheme)), "url");
    }
  }

  @Test
  void a_star_does_not_lead_to_this_machine_or_a_clouds_keys() throws Exception {
    for (String address :
        List.of(
            "127.0.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "100.100.100.200",
            "192.0.0.192",
            "::1",
            "fe80::1",
            "fd00:ec2::254",
            "fd20:ce::254",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "64:ff9b::169.254.169.254",
            "2002:7f00:1::",
            "2001:0:1:2:3:4:80ff:fffe")) {
      AllowedHosts hosts =
          new AllowedHosts(
              Set.of("*.example.org", "here.example.org"),
              host ->
                  new InetAddress[] {
                    InetAddress.getByName("10.0.0.1"), InetAddress.getByName(address)
                  });
      assertThat(hosts.leadsAstray("rebound.example.org")).as(address).isTrue();
      assertThat(hosts.leadsAstray("Here.example.org")).as("was named").isFalse();
    }
    for (String address : List.of("10.0.0.1", "192.0.2.7", "64:ff9b::192.0.2.7", "fd12::7")) {
      AllowedHosts inside =
          new AllowedHosts(
              Set.of("*.example.org"), host -> new InetAddress[] {InetAddress.getByName(address)});
      assertThat(inside.leadsAstray("erp.example.org")).as("what a star is mostly for").isFalse();
    }
  }

  @Test
  void a_star_does_not_lead_to_any_address_that_this_machine_has() throws Exception {
    for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
      for (InetAddress own : Collections.list(each.getInetAddresses())) {
        AllowedHosts hosts =
            new AllowedHosts(
                Set.of("*.example.org", "here.example.org"), host -> new InetAddress[] {own});
        assertThat(hosts.leadsAstray("erp.example.org")).as("%s", own).isTrue();
        assertThat(hosts.leadsAstray("here.example.org")).as("was named").isFalse();
      }
    }
  }

  @Test
  void where_a_star_leads_is_looked_at_before_each_call() {
    AllowedHosts astray =
        new AllowedHosts(
            Set.of("*.example.org"), host -> new InetAddress[] {InetAddress.getLoopbackAddress()});
    UUID id = enqueue(call(Map.of("url", "http://rebound.example.org/")));
    try (HttpExecutor executor = new HttpExecutor(HERE, astray);
        Worker worker =
            tenant
                .worker()
                .handleWithOutcome(
                    Kind.of("http", Object.class),
                    (args, job) -> executor.run(args, Runbook.NONE, job))
                .build()) {
      worker.runDue();
    }

    assertThat(tenant.job(id).errorCode()).contains("HOST_NOT_ALLOWED");
    assertThat(tenant.job(id).errorMessage().orElse("")).contains("leads to where");
  }
}
