package dev.holdfast.doctor;

import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenants;
import java.sql.Connection;
import org.jdbi.v3.core.ConnectionFactory;

/** A pool in transaction mode, of one connection: everybody gets it, and nobody closes it. */
final class OneConnection implements ConnectionFactory {

  private final Connection only;

  private OneConnection(Connection only) {
    this.only = only;
  }

  static Db shared(Connection only, Tenants tenants) {
    return new Db(tenants.control().schema(), new OneConnection(only), tenants.control().jdbi());
  }

  @Override
  public Connection openConnection() {
    return (Connection)
        java.lang.reflect.Proxy.newProxyInstance(
            OneConnection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) ->
                method.getName().equals("close") ? null : method.invoke(only, arguments));
  }
}
