package dev.holdfast.chaos.nemesis;

import dev.holdfast.rig.Cable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * All that can be cut.
 *
 * @param toServers one for each server, for workers, agents, and applications that enqueue
 */
public record Cables(
    List<Cable> toServers,
    Cable workersToDatabase,
    Cable serversToDatabase,
    Cable applicationsToDatabase)
    implements AutoCloseable {

  public static Cables to(int databasePort, int servers) throws IOException {
    List<Cable> toServers = new ArrayList<>();
    for (int i = 0; i < servers; i++) {
      toServers.add(new Cable(databasePort)); // until the server says where it is
    }
    return new Cables(
        List.copyOf(toServers),
        new Cable(databasePort),
        new Cable(databasePort),
        new Cable(databasePort));
  }

  @Override
  public void close() throws IOException {
    for (Cable cable : toServers) {
      cable.close();
    }
    workersToDatabase.close();
    serversToDatabase.close();
    applicationsToDatabase.close();
  }
}
