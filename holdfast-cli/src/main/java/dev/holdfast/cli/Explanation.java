package dev.holdfast.cli;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Causes;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** What went wrong, in a sentence for people; a stack trace would hide it. */
final class Explanation {

  private static final int MOST_WRAPPINGS = 20; // causes can form a circle

  private Explanation() {}

  /**
   * The subject from the outermost exception that names one, and the reason from the innermost; our
   * own exceptions have both in their message.
   */
  static String of(Throwable error) {
    Optional<HoldfastException> own = Causes.first(HoldfastException.class, error, MOST_WRAPPINGS);
    if (own.isPresent()) {
      return String.valueOf(own.get().getMessage());
    }
    List<Throwable> chain = Causes.of(error, MOST_WRAPPINGS);
    Throwable reason = chain.getLast();
    String subject =
        chain.subList(0, chain.size() - 1).stream()
            .flatMap(each -> ownMessage(each).stream())
            .findFirst()
            .map(text -> text.replaceFirst("\\.$", ""))
            .orElse("");
    String why = reason(reason, subject);
    return subject.isEmpty() ? why : subject.contains(why) ? subject : subject + ": " + why;
  }

  // One that was made from its cause alone repeats it.
  private static Optional<String> ownMessage(Throwable error) {
    return Optional.ofNullable(error.getMessage())
        .filter(message -> !message.equals(Objects.toString(error.getCause(), "")));
  }

  private static String reason(Throwable error, String subject) {
    if (error instanceof FileSystemException failure && failure.getFile() != null) {
      String what = reason(failure);
      return subject.endsWith(failure.getFile()) ? what : failure.getFile() + ": " + what;
    }
    return Optional.ofNullable(error.getMessage()).orElseGet(error::toString);
  }

  // Some say by their class alone what is wrong.
  private static String reason(FileSystemException failure) {
    return switch (failure) {
      case AccessDeniedException denied -> "permission denied";
      case NoSuchFileException missing -> "no such file or directory";
      case FileAlreadyExistsException there -> "it exists already";
      case DirectoryNotEmptyException full -> "the directory is not empty";
      default ->
          Optional.ofNullable(failure.getReason()).orElseGet(failure.getClass()::getSimpleName);
    };
  }
}
