package dev.holdfast.server.auth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * How long a look for a token takes tells nothing about it: what is compared is its hash, which
 * nobody can steer towards another by guessing a letter at a time.
 */
class TokenLookupTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final Tokens tokens = new Tokens(TestDatabase.shared().holdfast().tenants().control());

  // Whoever is one letter from the truth is, for whatever compares, as far from it as anybody.
  @Test
  void what_is_compared_of_a_near_miss_has_nothing_in_common_with_the_truth() {
    String token = tokens.draw();
    BitSet truth = BitSet.valueOf(Tokens.hash(token));
    List<Integer> distances = new ArrayList<>();
    for (int at = 3; at < token.length(); at++) {
      char other = token.charAt(at) == 'A' ? 'B' : 'A';
      String near = token.substring(0, at) + other + token.substring(at + 1);
      BitSet differs = BitSet.valueOf(Tokens.hash(near));
      differs.xor(truth);
      distances.add(differs.cardinality());
      assertThat(tokens.principal(near)).isEmpty();
    }
    // Of 256 bits half differ, wherever the letter was; 60 to 196 leaves room for eight deviations.
    assertThat(distances).allMatch(bits -> bits > 60 && bits < 196);
  }

  @Test
  void the_database_is_asked_by_the_hash_and_finds_it_by_an_index_of_hashes() {
    String token = tokens.draw();
    tokens.put(token, "ci", Role.VIEWER, Optional.of(tenant.name()), Optional.empty());

    List<String> indexes =
        texts(
            "SELECT indexdef FROM pg_indexes WHERE schemaname = 'holdfast' AND tablename = 'token'");
    List<String> columns =
        texts(
            "SELECT column_name FROM information_schema.columns"
                + " WHERE table_schema = 'holdfast' AND table_name = 'token'");

    assertThat(indexes)
        .anyMatch(index -> index.contains("UNIQUE INDEX") && index.endsWith("(hash)"));
    assertThat(columns)
        .containsExactlyInAnyOrder(
            "id", "name", "role", "tenant", "hash", "created_at", "expires_at", "revoked_at");
    assertThat(tokens.principal(token)).isPresent();
  }

  private List<String> texts(String sql) {
    return tenant
        .holdfast()
        .tenants()
        .control()
        .jdbi()
        .withHandle(handle -> handle.createQuery(sql).mapTo(String.class).list());
  }

  // What has not a token's shape is not looked for at all, whatever it begins with.
  @Test
  void a_beginning_of_a_token_is_none() {
    String token = tokens.draw();
    tokens.put(token, "ci", Role.VIEWER, Optional.of(tenant.name()), Optional.empty());

    for (int length = 0; length < token.length(); length++) {
      assertThat(tokens.principal(token.substring(0, length))).isEmpty();
    }
    for (String other :
        List.of(token + "A", " " + token, token + "\n", token + "\0", "%", "hf_%")) {
      assertThat(tokens.principal(other)).isEmpty();
    }
  }
}
