/**
 * The one error class and the table of codes.
 *
 * Three kinds of trouble are kept apart: a bug is an `assert`; an expected outcome is a tagged
 * value in a return type; everything else is an `EngineError`, identified by its `code`, never by
 * `instanceof` across an object boundary (class identity does not survive RPC).
 */

/** Who has to act: the author of the SQL or data, an outside system, or Thalweg itself. */
export type ErrorDomain = 'user' | 'external' | 'internal';

/** A place in a text; lines and columns are 1-based and count code points. */
export type Position = { line: number; column: number };

/** A half-open stretch of a text. */
export type Span = { start: Position; end: Position };

/** code → domain, and whether trying the same thing again can help. Each code has a paragraph in docs/errors.md. */
export const ERROR_CODES = {
  // Text of a query.
  SYNTAX: { domain: 'user', retry: 'never' },
  QUERY_TOO_LARGE: { domain: 'user', retry: 'never' },
  UNTERMINATED: { domain: 'user', retry: 'never' },
  RESERVED_WORD: { domain: 'user', retry: 'never' },
  // Meaning of a query.
  NO_QUERY: { domain: 'user', retry: 'never' },
  UNKNOWN_TYPE: { domain: 'user', retry: 'never' },
  UNKNOWN_TABLE: { domain: 'user', retry: 'never' },
  UNKNOWN_COLUMN: { domain: 'user', retry: 'never' },
  UNKNOWN_FUNCTION: { domain: 'user', retry: 'never' },
  UNKNOWN_CONNECTOR: { domain: 'user', retry: 'never' },
  UNKNOWN_OPTION: { domain: 'user', retry: 'never' },
  INVALID_OPTION: { domain: 'user', retry: 'never' },
  MISSING_OPTION: { domain: 'user', retry: 'never' },
  AMBIGUOUS_COLUMN: { domain: 'user', retry: 'never' },
  DUPLICATE_NAME: { domain: 'user', retry: 'never' },
  TYPE_ERROR: { domain: 'user', retry: 'never' },
  NULL_COMPARISON: { domain: 'user', retry: 'never' },
  INVALID_GROUPING: { domain: 'user', retry: 'never' },
  INVALID_WINDOW: { domain: 'user', retry: 'never' },
  INVALID_PATTERN: { domain: 'user', retry: 'never' },
  INVALID_WATERMARK: { domain: 'user', retry: 'never' },
  MISSING_WATERMARK: { domain: 'user', retry: 'never' },
  INVALID_SINK: { domain: 'user', retry: 'never' },
  RESERVED_PATH: { domain: 'user', retry: 'never' },
  SHARED_PATH: { domain: 'user', retry: 'never' },
  UNSUPPORTED: { domain: 'user', retry: 'never' },
  DEPRECATED: { domain: 'user', retry: 'never' },
  // One row.
  PARSE_ERROR: { domain: 'user', retry: 'never' },
  TYPE_MISMATCH: { domain: 'user', retry: 'never' },
  MISSING_REQUIRED: { domain: 'user', retry: 'never' },
  NULL_VIOLATION: { domain: 'user', retry: 'never' },
  NUMERIC_OUT_OF_RANGE: { domain: 'user', retry: 'never' },
  NUMERIC_OVERFLOW: { domain: 'user', retry: 'never' },
  DIVISION_BY_ZERO: { domain: 'user', retry: 'never' },
  INVALID_CAST: { domain: 'user', retry: 'never' },
  TIMESTAMP_UNIT_REQUIRED: { domain: 'user', retry: 'never' },
  UNKNOWN_FIELD: { domain: 'user', retry: 'never' },
  ROW_TOO_LARGE: { domain: 'user', retry: 'never' },
  FUNCTION_ERROR: { domain: 'user', retry: 'never' },
  LATE_ROW: { domain: 'user', retry: 'never' },
  MATCH_TOO_LARGE: { domain: 'user', retry: 'never' },
  NOTHING_TO_RETRACT: { domain: 'user', retry: 'never' },
  // The API.
  INVALID_REQUEST: { domain: 'user', retry: 'never' },
  BODY_TOO_LARGE: { domain: 'user', retry: 'never' },
  NOT_FOUND: { domain: 'user', retry: 'never' },
  METHOD_NOT_ALLOWED: { domain: 'user', retry: 'never' },
  CONFLICT: { domain: 'user', retry: 'never' },
  IDEMPOTENCY_MISMATCH: { domain: 'user', retry: 'never' },
  BACKPRESSURE: { domain: 'external', retry: 'backoff' },
  NOT_RUNNING: { domain: 'user', retry: 'backoff' },
  CATALOG_NOT_READY: { domain: 'external', retry: 'backoff' },
  // The command line and the local runtime.
  RUNTIME_FAILED: { domain: 'external', retry: 'never' },
  BUILD_FAILED: { domain: 'user', retry: 'never' },
  STATE_IN_USE: { domain: 'user', retry: 'never' },
  ACCESS_DENIED: { domain: 'user', retry: 'never' },
  // Running.
  SOURCE_MISSING: { domain: 'user', retry: 'never' },
  SOURCE_FAILED: { domain: 'external', retry: 'backoff' },
  SINK_FAILED: { domain: 'external', retry: 'backoff' },
  SINK_REFUSED: { domain: 'user', retry: 'never' },
  BROKEN_PARQUET: { domain: 'user', retry: 'never' },
  STORE_FAILED: { domain: 'external', retry: 'backoff' },
  INVALID_FUNCTION: { domain: 'user', retry: 'never' },
  FUNCTION_FAILED: { domain: 'user', retry: 'backoff' },
  FUNCTIONS_UNAVAILABLE: { domain: 'user', retry: 'never' },
  STATE_TOO_LARGE: { domain: 'user', retry: 'never' },
  HOST_LOST: { domain: 'internal', retry: 'backoff' },
  START_TIMEOUT: { domain: 'internal', retry: 'backoff' },
  CHECKPOINT_TIMEOUT: { domain: 'internal', retry: 'backoff' },
  COMMIT_TIMEOUT: { domain: 'external', retry: 'backoff' },
  LINEAGE_BROKEN: { domain: 'internal', retry: 'never' },
  RESTARTS_EXHAUSTED: { domain: 'internal', retry: 'never' },
  INTERNAL: { domain: 'internal', retry: 'backoff' },
} as const satisfies Record<string, { domain: ErrorDomain; retry: 'never' | 'backoff' }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** What an error says, as plain data: this is what crosses RPC and HTTP. */
export type ErrorReport = {
  code: ErrorCode;
  domain: ErrorDomain;
  retry: 'never' | 'backoff';
  /** Lower-case statement of fact, one line. */
  message: string;
  /** A full sentence of background. */
  detail?: string;
  /** What to do about it. */
  hint?: string;
  /** The nearest right spelling, ready to paste. */
  suggestion?: string;
  /** Where in the SQL text. */
  span?: Span;
};

export type ErrorExtras = Pick<ErrorReport, 'detail' | 'hint' | 'suggestion' | 'span'>;

export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly report: ErrorReport;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.report = { code, ...ERROR_CODES[code], message, ...extras };
  }

  get code(): ErrorCode {
    return this.report.code;
  }
}

/** The report of anything thrown; an unknown error becomes INTERNAL and keeps its message only. */
export function reportOf(thrown: unknown): ErrorReport {
  if (thrown instanceof EngineError) return thrown.report;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: 'INTERNAL', ...ERROR_CODES.INTERNAL, message };
}
