package dev.holdfast.server.doctor;

import dev.holdfast.doctor.Check;
import dev.holdfast.doctor.Finding;
import dev.holdfast.server.Address;

/** Checks whether tokens are safe from being read on the network. */
public final class Transport implements Check {

  private final Address address;

  public Transport(Address address) {
    this.address = address;
  }

  @Override
  public String name() {
    return "transport";
  }

  @Override
  public Finding look() {
    if (address.tls().isPresent()) {
      return Finding.ok(this, "TLS");
    }
    if (address.isLoopback()) {
      return Finding.ok(this, "on this machine alone");
    }
    return Finding.warn(
        this,
        "plain HTTP at " + address.host() + ": whoever is on the way reads the tokens",
        "use --tls-cert and --tls-key, or listen on 127.0.0.1 behind a proxy that has TLS");
  }
}
