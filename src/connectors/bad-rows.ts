/**
 * What becomes of rows that could not be decoded, as the table's `bad_data` says: the pipeline fails, or the row is
 * reported and counted, with its text for the error table or without.
 */
import { EngineError, type ErrorReport } from '../base/errors.ts';
import { sha256 } from '../base/sha256.ts';
import type { FormatSpec } from '../formats/format.ts';
import { REDACTED } from '../formats/redacted.ts';
import type { DecodeError } from '../formats/json-decoder.ts';
import type { RowProblem } from '../operators/operator.ts';

/** Longest text of a row that is kept, in bytes. */
const RAW_BYTES_MAX = 65_536;

export type BadRows =
  | { tag: 'problems'; problems: RowProblem[] }
  | { tag: 'failed'; report: ErrorReport };

/**
 * @param bytes the decoder's input
 * @param place says where a row stands: `line 7 (byte 120) of flights.ndjson`
 */
export function judgeBadRows(
  errors: readonly DecodeError[],
  bytes: Uint8Array,
  { badData, redactErrors }: FormatSpec,
  place: (error: DecodeError) => string,
): BadRows {
  const [first] = errors;
  if (first !== undefined && badData === 'fail') {
    return {
      tag: 'failed',
      report:
        redactErrors === true
          ? failReport(first.code, `${place(first)}: ${REDACTED}`, null)
          : failReport(first.code, `${place(first)}: ${first.message}`, rawOf(bytes, first)),
    };
  }
  const problems = errors.map((error): RowProblem => {
    const problem = {
      row: error.rowIndex,
      code: error.code,
      column: error.column ?? '',
      message: `${place(error)}: ${redactErrors === true ? REDACTED : error.message}`,
      raw: null,
    };
    if (badData !== 'dead_letter') return problem;
    if (redactErrors === true)
      return { ...problem, rawSha256: sha256(bytes.subarray(error.start, error.end)) };
    return { ...problem, raw: rawOf(bytes, error) };
  });
  return { tag: 'problems', problems };
}

/** The report of a pipeline that a bad row stops. */
export function failReport(
  code: DecodeError['code'],
  message: string,
  raw: string | null,
): ErrorReport {
  return new EngineError(code, message, {
    ...(raw === null ? {} : { detail: `The row is: ${raw.slice(0, 500)}` }),
    hint: "Set bad_data = 'dead_letter' on the table to put such rows aside and go on.",
  }).report;
}

function rawOf(bytes: Uint8Array, error: DecodeError): string {
  return new TextDecoder().decode(
    bytes.subarray(error.start, Math.min(error.end, error.start + RAW_BYTES_MAX)),
  );
}
