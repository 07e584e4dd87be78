package dev.holdfast.spring;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction of Spring's that the calling thread is in, seen from one pool: none, one that a
 * job can share the fate of, or one that is refused, because it would only look as if. Thread-safe.
 */
final class ThreadTransaction {

  private static final TransactionDefinition IF_THERE_IS_ONE =
      new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_SUPPORTS);

  private static final String INSTEAD =
      ", or call holdfast.jobs(tenant).enqueue(job) for a job that is to be stored whatever becomes"
          + " of the transaction";

  // A transaction is bound to the thread under the DataSource that its manager was given, which may
  // be any of these. Managers look through the one kind of proxy that is left out here.
  private final List<DataSource> layers;

  ThreadTransaction(ProxiedPool pool) {
    this.layers =
        pool.layers().stream()
            .filter(layer -> !(layer instanceof TransactionAwareDataSourceProxy))
            .toList();
  }

  /** The DataSource that has the transaction's connection; nothing outside of a transaction. */
  Optional<DataSource> dataSource() {
    boolean isActive = TransactionSynchronizationManager.isActualTransactionActive();
    long bound = countBound();
    // Its completion ends the synchronization first, then calls back, then lets the connection go.
    // The first callback that begins another transaction makes Spring forget that this one was.
    boolean goesOn = isActive && TransactionSynchronizationManager.isSynchronizationActive();
    if ((isActive || bound > 0) && !goesOn) {
      throw refused(
          "this thread's transaction has ended, and what is written in a callback of its completion"
              + " may be lost: begin a new one (REQUIRES_NEW)");
    }
    Optional<DataSource> own =
        layers.stream().filter(ThreadTransaction::hasTransaction).findFirst();
    if (own.isEmpty() && isActive) {
      throw refused(
          "this thread is in a transaction of another DataSource or transaction manager, so the job"
              + " would not share its fate: use a transaction manager of Holdfast's DataSource");
    }
    if (own.isPresent() && bound > 1) {
      // Spring does not tell which of them was begun last, and would be meant.
      throw refused(
          "this thread is in two transactions at once, of Holdfast's DataSource and of another, and"
              + " the job can share the fate of only one: end the other first");
    }
    if (own.isPresent() && TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
      throw refused("this thread's transaction is read-only: begin one that may write");
    }
    return own;
  }

  // A copy, because looking at what is bound may remove it.
  private static long countBound() {
    return List.copyOf(TransactionSynchronizationManager.getResourceMap().keySet()).stream()
        .filter(key -> key instanceof DataSource any && hasTransaction(any))
        .count();
  }

  private static boolean hasTransaction(DataSource layer) {
    if (!(TransactionSynchronizationManager.getResource(layer) instanceof ConnectionHolder held)) {
      return false;
    }
    // JPA's manager binds the connection of its own transaction, and does not mark it as
    // synchronized. One that is marked is either a JDBC manager's, or was lent to somebody during
    // another manager's transaction, and is closed after that without a commit.
    return !held.isSynchronizedWithTransaction() || hasJdbcTransaction(layer);
  }

  // Spring answers this to its own managers alone. This one joins or does nothing, so there is
  // nothing to complete.
  private static boolean hasJdbcTransaction(DataSource layer) {
    DataSourceTransactionManager asking = new DataSourceTransactionManager(layer);
    asking.setTransactionSynchronization(DataSourceTransactionManager.SYNCHRONIZATION_NEVER);
    return asking.getTransaction(IF_THERE_IS_ONE).hasTransaction();
  }

  private static HoldfastException refused(String why) {
    return new HoldfastException(ErrorCode.INVALID_ARGUMENT, "enqueue: " + why + INSTEAD);
  }
}
