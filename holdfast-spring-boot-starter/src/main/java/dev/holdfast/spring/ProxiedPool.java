package dev.holdfast.spring;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * A pool, and Spring's proxies before it.
 *
 * @param layers from the outermost proxy to the pool itself
 */
record ProxiedPool(List<DataSource> layers) {

  static ProxiedPool of(DataSource dataSource) {
    List<DataSource> layers = new ArrayList<>();
    DataSource layer = dataSource;
    layers.add(layer);
    // Only these: other wrappers may be there for a reason, such as another user's name.
    while (layer instanceof TransactionAwareDataSourceProxy
        || layer instanceof LazyConnectionDataSourceProxy) {
      DataSource next = ((DelegatingDataSource) layer).getTargetDataSource();
      layer = Objects.requireNonNull(next, "a proxy without a DataSource behind it");
      layers.add(layer);
    }
    return new ProxiedPool(List.copyOf(layers));
  }

  DataSource pool() {
    return layers.getLast();
  }
}
