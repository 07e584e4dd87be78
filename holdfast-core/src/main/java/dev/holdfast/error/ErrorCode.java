package dev.holdfast.error;

/** What went wrong, in one word that logs, HTTP problems and CLI exit codes share. */
public enum ErrorCode {
  /** A value given by the caller is missing, malformed or over its limit. Nothing was stored. */
  INVALID_ARGUMENT,
  /** A setting is out of its allowed range. Nothing was started. */
  BAD_CONFIG,
  /** The caller is not known, or may not do what was asked. */
  FORBIDDEN,
  /** There is no such job, schedule, tenant or other thing. */
  NOT_FOUND,
  /** The job's state does not allow what was asked. */
  STATE_CONFLICT,
  /** The caller's lease is no longer the current one; nothing was changed. */
  LEASE_LOST,
  /** Arguments or results that cannot be turned into JSON, or back. */
  BAD_PAYLOAD,
  /** A worker got a job for which it has no handler. */
  UNKNOWN_KIND,
  /** The database's tables are missing, older or newer than this version can work with. */
  SCHEMA_MISMATCH,
  /** The database failed, or could not be reached. */
  DATABASE,
  /** The server could not be reached, did not answer in time, or has too much to do. */
  UNAVAILABLE
}
