package dev.holdfast.bench.contender;

/** What a contender is compared for. */
public enum Role {
  /** What any queue needs and nothing else: the others are shares of it. */
  LIMIT,
  OURS,
  /** A product that does about the same. */
  PEER
}
