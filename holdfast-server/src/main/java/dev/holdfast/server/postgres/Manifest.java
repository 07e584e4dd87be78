package dev.holdfast.server.postgres;

import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The contents of a backup. Written last and atomically, so a directory without a manifest is no
 * backup.
 *
 * @param postgres the major version that can read the backup
 * @param directories all directories, including empty ones, which the database needs as well
 */
record Manifest(String postgres, List<String> directories, List<Entry> entries) {

  static final String FILE = "backup.manifest";

  private static final String FORMAT = "holdfast-backup 1";
  private static final String POSTGRES = "postgres ";
  private static final String DIRECTORY = "directory ";
  private static final int HEAD = 2;

  /**
   * A file of the backup.
   *
   * @param path relative to the backup
   * @param sha256 the hash of its contents
   */
  record Entry(String path, long size, String sha256) {

    String line() {
      return sha256 + " " + size + " " + path;
    }

    static Entry of(String line) {
      String[] parts = line.split(" ", 3);
      return new Entry(parts[2], Long.parseLong(parts[1]), parts[0]);
    }
  }

  static Manifest in(Path backup) throws IOException {
    Path file = backup.resolve(FILE);
    if (!Files.exists(file)) {
      throw refused(backup, "there is no " + FILE + " in it");
    }
    List<String> lines = Files.readAllLines(file);
    int content = lines.size() - HEAD - 1;
    boolean whole =
        content >= 0
            && lines.getFirst().equals(FORMAT)
            && lines.get(1).startsWith(POSTGRES)
            && lines.getLast().equals("end " + content);
    if (!whole) {
      throw refused(backup, "its " + FILE + " is not one that this version has written");
    }
    Map<Boolean, List<String>> isDirectory =
        lines.subList(HEAD, HEAD + content).stream()
            .collect(Collectors.partitioningBy(line -> line.startsWith(DIRECTORY)));
    return new Manifest(
        lines.get(1).substring(POSTGRES.length()),
        isDirectory.getOrDefault(true, List.of()).stream()
            .map(line -> line.substring(DIRECTORY.length()))
            .toList(),
        isDirectory.getOrDefault(false, List.of()).stream().map(Entry::of).toList());
  }

  void writeTo(Path backup) throws IOException {
    List<String> lines = new ArrayList<>(List.of(FORMAT, POSTGRES + postgres));
    directories.forEach(path -> lines.add(DIRECTORY + path));
    entries.forEach(entry -> lines.add(entry.line()));
    lines.add("end " + (directories.size() + entries.size()));
    Path draft = backup.resolve(FILE + ".new");
    Files.write(draft, lines);
    Copies.force(draft);
    Files.move(draft, backup.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
    Copies.force(backup);
  }

  static HoldfastException refused(Path backup, String why) {
    return HoldfastException.badConfig("DIR", backup, "a whole backup; " + why);
  }
}
