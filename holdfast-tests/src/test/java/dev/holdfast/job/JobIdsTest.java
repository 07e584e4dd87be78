package dev.holdfast.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;

class JobIdsTest {

  @Test
  void an_id_is_a_uuid_of_version_7_that_begins_with_the_time() {
    long before = System.currentTimeMillis();
    UUID id = JobIds.next();
    long after = System.currentTimeMillis();

    assertThat(id.version()).isEqualTo(7);
    assertThat(id.variant()).isEqualTo(2);
    assertThat(id.getMostSignificantBits() >>> 16).isBetween(before, after);
  }

  @Test
  void ids_do_not_repeat() {
    Set<UUID> ids = new HashSet<>();

    Stream.generate(JobIds::next).limit(100_000).forEach(ids::add);

    assertThat(ids).hasSize(100_000);
  }

  @Test
  void later_milliseconds_come_later_in_the_order() {
    UUID earlier = new UUID(0x0199_0000_0000_7FFFL, 0xBFFF_FFFF_FFFF_FFFFL);
    UUID later = new UUID(0x0199_0000_0001_7000L, 0x8000_0000_0000_0000L);

    assertThat(JobIds.ORDER.compare(earlier, later)).isNegative();
  }

  @Test
  void the_order_is_the_databases_order() {
    Random random = new Random(7);
    List<UUID> ids = new ArrayList<>();
    // All signs of both halves: Java's own order is wrong where PostgreSQL compares bytes.
    for (int i = 0; i < 500; i++) {
      ids.add(new UUID(random.nextLong(), random.nextLong()));
      ids.add(new UUID(7, random.nextLong()));
      ids.add(JobIds.next());
    }
    List<UUID> ordered = new ArrayList<>(ids);
    ordered.sort(JobIds.ORDER);
    Collections.shuffle(ids, random);

    List<UUID> byDatabase =
        Jdbi.create(TestDatabase.shared().dataSource())
            .withHandle(handle ->
                handle
                    .createQuery("SELECT id FROM unnest(:ids) AS id ORDER BY id")
                    .registerArrayType(UUID.class, "uuid")
                    .bindArray("ids", UUID.class, ids)
                    .mapTo(UUID.class)
                    .list());

    assertThat(ordered).isEqualTo(byDatabase);
    assertThat(ids.stream().sorted().toList()).isNotEqualTo(byDatabase);
  }
}
