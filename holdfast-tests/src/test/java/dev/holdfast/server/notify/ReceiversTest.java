package dev.holdfast.server.notify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.tenancy.Webhook;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.util.Collections;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No spelling of an address gets a webhook to where only the server can go. */
class ReceiversTest {

  private static final Receivers OPEN_INTERNET = new Receivers(Set.of());

  @ParameterizedTest
  @ValueSource(
      strings = {
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "0.1.2.3",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.100.100.200",
        "192.0.0.192",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:a9fe:a9fe]",
        "[::127.0.0.1]",
        "[::a9fe:a9fe]",
        "[64:ff9b::169.254.169.254]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:0:7f00:1::]",
        "[fe80::1]",
        "[fec0::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[ff02::1]",
        "[100::1]",
        "[5f00::1]"
      })
  void what_only_the_server_can_reach_is_off_limits_however_it_is_written(String host)
      throws Exception {
    assertThat(OPEN_INTERNET.addressesOf(host)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"1.1.1.1", "172.32.0.1", "100.128.0.1", "[2606:4700::1]", "[::ffff:8.8.8.8]"})
  void the_open_internet_is_not(String host) throws Exception {
    assertThat(OPEN_INTERNET.addressesOf(host)).isPresent();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.0.0.1/",
        "http://127.1/",
        "http://127.0.0.1.:80/",
        "http://①②⑦.0.0.1/",
        "http://127。0。0。1/",
        "http:127.0.0.1/",
        "http:///127.0.0.1/",
        "http://a@127.0.0.1/",
        "http://a:b@127.0.0.1/",
        "http://example.org\\@127.0.0.1/",
        "http://example.org /",
        "http://example.org\r\nX: y/",
        "http://[::1/",
        "//127.0.0.1/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "gopher://example.org/",
        "jar:http://example.org!/x",
        "dict://example.org/",
        "javascript:alert(1)",
        "HTTP",
        ""
      })
  void an_address_that_can_be_read_in_two_ways_is_none(String url) throws Exception {
    try {
      Webhook webhook =
          new Webhook("ops", url, Set.of(Webhook.Event.JOB_FAILED), "between the two of us");
      // What a reader lets pass must at least be looked at like any other.
      assertThat(OPEN_INTERNET.addressesOf(java.net.URI.create(webhook.url()).getHost())).isEmpty();
    } catch (HoldfastException | UnknownHostException e) {
      assertThat(e).isNotNull();
    }
  }

  // Others read it as octal, 127.0.0.1. What we judge is what we call, so there is one reading.
  @Test
  void a_zero_before_a_number_is_a_zero() throws Exception {
    assertThat(OPEN_INTERNET.addressesOf("0177.0.0.1").orElseThrow())
        .extracting(InetAddress::getHostAddress)
        .containsExactly("177.0.0.1");
  }

  @Test
  void one_forbidden_address_among_several_is_one_too_many() throws Exception {
    Receivers receivers =
        new Receivers(Set.of(), host -> new InetAddress[] {at("1.1.1.1"), at("10.0.0.1")});

    assertThat(receivers.addressesOf("both.example")).isEmpty();
  }

  @Test
  void an_address_of_the_machine_itself_is_off_limits_whatever_network_it_is_of() throws Exception {
    for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
      for (InetAddress own : Collections.list(each.getInetAddresses())) {
        assertThat(OPEN_INTERNET.addressesOf(own.getHostAddress())).as("%s", own).isEmpty();
      }
    }
    // Few machines that run tests have a public one.
    InetAddress own = at("1.1.1.1");
    Receivers here = new Receivers(Set.of(), InetAddress::getAllByName, own::equals);
    Receivers named = new Receivers(Set.of("1.1.1.1"), InetAddress::getAllByName, own::equals);

    assertThat(here.addressesOf("1.1.1.1")).isEmpty();
    assertThat(here.addressesOf("[::ffff:1.1.1.1]")).isEmpty();
    assertThat(here.addressesOf("1.1.1.2")).isPresent();
    assertThat(named.addressesOf("1.1.1.1")).isPresent();
  }

  @Test
  void a_name_that_leads_nowhere_is_not_taken_for_one_that_leads_to_a_good_place() {
    Receivers receivers =
        new Receivers(
            Set.of(),
            host -> {
              throw new UnknownHostException(host);
            });

    assertThatThrownBy(() -> receivers.addressesOf("later.example"))
        .isInstanceOf(UnknownHostException.class);
  }

  @Test
  void what_the_servers_owner_names_is_allowed_and_its_neighbours_are_not() throws Exception {
    Receivers receivers = new Receivers(Set.of("10.1.0.0/16"));

    assertThat(receivers.addressesOf("10.1.2.3")).isPresent();
    assertThat(receivers.addressesOf("10.2.2.3")).isEmpty();
    assertThat(receivers.addressesOf("127.0.0.1")).isEmpty();
  }

  private static InetAddress at(String address) throws UnknownHostException {
    return InetAddress.getByName(address);
  }
}
