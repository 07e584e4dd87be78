package dev.holdfast.examples.dailybrief;

import java.util.Optional;

/**
 * A feed to read, and what its server said when it last gave us one.
 *
 * @param etag its name for that version
 * @param lastModified the moment of that version, in the server's words
 */
record Source(long id, String rssUrl, Optional<String> etag, Optional<String> lastModified) {}
