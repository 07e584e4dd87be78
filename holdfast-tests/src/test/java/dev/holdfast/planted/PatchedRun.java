package dev.holdfast.planted;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Runs the tests of one class in this process, and says by its exit code whether one failed. By
 * reflection, because what runs tests is no dependency of ours.
 */
final class PatchedRun {

  static final int ALL_WELL = 0;
  static final int NOTICED = 7;

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
    if (failures.isEmpty()) {
      System.out.println(succeeded + " tests passed");
      System.exit(succeeded > 0 ? ALL_WELL : 1);
    }
    Object test =
        call(
            type("launcher.listeners.TestExecutionSummary$Failure"),
            failures.getFirst(),
            "getTestIdentifier");
    System.out.println();
    System.out.println(call(test.getClass(), test, "getDisplayName"));
    System.exit(NOTICED);
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
