package dev.holdfast.examples.dailybrief;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Optional;

/** What a feed says about one article. */
record Article(String url, String title, String summary, Optional<Instant> publishedAt) {

  // What the unique index of raw_articles has room for, and a little less.
  private static final int MOST_URL_BYTES = 2_000;

  Article {
    if (!isUsable(url)) {
      throw new IllegalArgumentException("url " + url);
    }
  }

  static boolean isUsable(String url) {
    return (url.startsWith("http://") || url.startsWith("https://"))
        && url.getBytes(StandardCharsets.UTF_8).length <= MOST_URL_BYTES;
  }

  String contentHash() {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update((title + '\n' + summary).getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every Java has it
    }
  }
}
