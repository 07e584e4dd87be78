package dev.holdfast.planted;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs the tests of one class in this process, says which of them failed and how, and by its exit
 * code whether any did. By reflection, because what runs tests is no dependency of ours.
 */
final class PatchedRun {

  static final int ALL_WELL = 0;
  static final int NOTICED = 7;

  /** Begins a line about a test that failed: its method, the exception and what that says. */
  static final String FAILED = "PatchedRun failed: ";

  static final String SEPARATOR = " | ";
  private static final int MOST_SAID = 300;

  private static final String PLATFORM = "org.junit.platform.";

  private PatchedRun() {}

  public static void main(String[] arguments) throws Exception {
    Object selector =
        call(type("engine.discovery.DiscoverySelectors"), null, "selectClass", arguments[0]);
    Object builder = call(type("launcher.core.LauncherDiscoveryRequestBuilder"), null, "request");
    builder = call(builder.getClass(), builder, "selectors", List.of(selector));
    Object request = call(builder.getClass(), builder, "build");
    Class<?> listenerType = type("launcher.listeners.SummaryGeneratingListener");
    Object listener = listenerType.getConstructor().newInstance();
    Object launcher = call(type("launcher.core.LauncherFactory"), null, "create");
    Object listeners = Array.newInstance(type("launcher.TestExecutionListener"), 1);
    Array.set(listeners, 0, listener);
    type("launcher.Launcher")
        .getMethod("execute", type("launcher.LauncherDiscoveryRequest"), listeners.getClass())
        .invoke(launcher, request, listeners);
    Object summary = call(listenerType, listener, "getSummary");
    Class<?> summaries = type("launcher.listeners.TestExecutionSummary");
    long succeeded = (Long) call(summaries, summary, "getTestsSucceededCount");
    List<?> failures = (List<?>) call(summaries, summary, "getFailures");
    System.out.println();
    System.out.println(succeeded + " tests passed");
    if (failures.isEmpty()) {
      System.exit(succeeded > 0 ? ALL_WELL : 1);
    }
    for (Object failure : failures) {
      System.out.println(FAILED + told(failure));
    }
    System.exit(NOTICED);
  }

  private static String told(Object failure) throws ReflectiveOperationException {
    Class<?> failureType = type("launcher.listeners.TestExecutionSummary$Failure");
    Object test = call(failureType, failure, "getTestIdentifier");
    Throwable thrown = (Throwable) call(failureType, failure, "getException");
    Class<?> methodSource = type("engine.support.descriptor.MethodSource");
    Optional<?> source = (Optional<?>) call(test.getClass(), test, "getSource");
    Object name =
        source.filter(methodSource::isInstance).isPresent()
            ? call(methodSource, source.get(), "getMethodName")
            : call(test.getClass(), test, "getDisplayName"); // the class itself
    String said = String.valueOf(thrown.getMessage()).replaceAll("\\s+", " ");
    return name
        + SEPARATOR
        + thrown.getClass().getName()
        + SEPARATOR
        + said.substring(0, Math.min(MOST_SAID, said.length()));
  }

  private static Class<?> type(String name) throws ClassNotFoundException {
    return Class.forName(PLATFORM + name);
  }

  private static Object call(Class<?> type, @Nullable Object on, String name, Object... arguments)
      throws ReflectiveOperationException {
    for (Method method : type.getMethods()) {
      if (method.getName().equals(name)
          && method.getParameterCount() == arguments.length
          && fits(method, arguments)) {
        try {
          return Objects.requireNonNull(method.invoke(on, arguments));
        } catch (InvocationTargetException e) {
          throw new IllegalStateException(e.getCause());
        }
      }
    }
    throw new NoSuchMethodException(type + "." + name);
  }

  private static boolean fits(Method method, Object[] arguments) {
    for (int i = 0; i < arguments.length; i++) {
      if (!method.getParameterTypes()[i].isInstance(arguments[i])) {
        return false;
      }
    }
    return true;
  }
}
