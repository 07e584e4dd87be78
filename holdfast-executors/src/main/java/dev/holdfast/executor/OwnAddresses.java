package dev.holdfast.executor;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;

/** The addresses of this machine, whatever network they are of. */
public final class OwnAddresses {

  private OwnAddresses() {}

  /** Looked up each time: machines get addresses and lose them. */
  public static boolean contain(InetAddress address) {
    try {
      return NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      return true; // nobody knows, so it may be one
    }
  }
}
