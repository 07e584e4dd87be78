package dev.holdfast.server.postgres;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Copies files so that only their owner can read them, computes their hashes, and forces them to
 * disk.
 */
final class Copies {

  private static final FileAttribute<Set<PosixFilePermission>> OWNERS_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private Copies() {}

  /**
   * Copies a file.
   *
   * @param name the path in the manifest's entry
   */
  static Manifest.Entry copy(Path from, Path to, String name) throws IOException {
    MessageDigest digest = sha256();
    try (InputStream in = new DigestInputStream(Files.newInputStream(from), digest);
        FileChannel channel =
            FileChannel.open(
                to,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                OWNERS_ALONE)) {
      OutputStream out = Channels.newOutputStream(channel);
      long size = in.transferTo(out);
      return new Manifest.Entry(name, size, HexFormat.of().formatHex(digest.digest()));
    }
  }

  /**
   * Forces all files below a directory to disk; doing so after all copies is quicker than after
   * each.
   */
  static void forceAll(Path directory) throws IOException {
    List<Path> all;
    try (Stream<Path> files = Files.walk(directory)) {
      all = files.filter(file -> !Files.isSymbolicLink(file)).toList();
    }
    for (Path file : all) {
      force(file);
    }
  }

  /** Forces a file, or a directory's list of names, to disk. */
  static void force(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
