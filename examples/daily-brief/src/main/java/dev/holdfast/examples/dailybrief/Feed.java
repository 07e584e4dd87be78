package dev.holdfast.examples.dailybrief;

import com.rometools.rome.feed.synd.SyndContent;
import com.rometools.rome.feed.synd.SyndEntry;
import com.rometools.rome.io.FeedException;
import com.rometools.rome.io.SyndFeedInput;
import com.rometools.rome.io.XmlReader;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.Comparator;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An RSS or Atom feed.
 *
 * @param articles in the order of their addresses, so that all who insert them lock in one order
 * @param leftOut how many entries have no address that we can use
 */
record Feed(List<Article> articles, int leftOut) {

  // Outside of these a date is a mistake, and may be one that the database cannot store.
  private static final Instant EARLIEST = Instant.EPOCH;
  private static final Instant LATEST = Instant.parse("9999-01-01T00:00:00Z");

  static Feed parse(InputStream xml) throws FeedException {
    List<SyndEntry> entries = entries(xml);
    List<Article> articles =
        entries.stream()
            .flatMap(entry -> article(entry).stream())
            .sorted(Comparator.comparing(Article::url))
            .toList();
    return new Feed(articles, entries.size() - articles.size());
  }

  private static List<SyndEntry> entries(InputStream xml) throws FeedException {
    SyndFeedInput input = new SyndFeedInput();
    // Without a document type there are no entities: none to read our files, none to fill memory.
    input.setAllowDoctypes(false);
    try (XmlReader reader = new XmlReader(xml)) {
      return input.build(reader).getEntries();
    } catch (IOException | RuntimeException | StackOverflowError e) {
      // Its parsers fail in many ways over what strangers write, one of them by nesting too deep.
      throw new FeedException("not a feed: " + e, e);
    }
  }

  private static Optional<Article> article(SyndEntry entry) {
    return Stream.of(text(entry.getLink()), text(entry.getUri()))
        .filter(Article::isUsable)
        .findFirst()
        .map(url ->
            new Article(
                url,
                Optional.of(text(entry.getTitle())).filter(title -> !title.isEmpty()).orElse(url),
                Optional.ofNullable(entry.getDescription())
                    .map(SyndContent::getValue)
                    .map(Feed::text)
                    .orElse(""),
                Optional.ofNullable(entry.getPublishedDate())
                    .or(() -> Optional.ofNullable(entry.getUpdatedDate()))
                    .map(Date::toInstant)
                    .filter(moment -> moment.isAfter(EARLIEST) && moment.isBefore(LATEST))));
  }

  private static String text(@Nullable String text) {
    return text == null ? "" : text.strip();
  }
}
