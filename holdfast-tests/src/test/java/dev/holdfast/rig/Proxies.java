package dev.holdfast.rig;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/** Stand-ins for JDBC's interfaces. */
public final class Proxies {

  /** What is done instead, or handed on. */
  public interface Call {
    @Nullable Object on(Method method, Object[] arguments) throws Throwable;
  }

  private Proxies() {}

  public static <T> T make(Class<T> type, Call call) {
    return type.cast(
        Proxy.newProxyInstance(
            Proxies.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              if (method.getDeclaringClass().equals(Object.class)) {
                return itself(proxy, method, arguments);
              }
              try {
                return call.on(method, arguments == null ? new Object[0] : arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  @SuppressWarnings("ReferenceEquality") // who is asked whether he is equal cannot ask that
  private static Object itself(Object proxy, Method method, Object @Nullable [] arguments) {
    return switch (method.getName()) {
      case "hashCode" -> System.identityHashCode(proxy);
      case "equals" -> arguments != null && proxy == arguments[0];
      default -> "stand-in";
    };
  }
}
