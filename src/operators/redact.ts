/** A problem of a row that must not be shown: its code and column stay, its text becomes a hash. */
import { sha256 } from '../base/sha256.ts';
import { REDACTED } from '../formats/redacted.ts';
import type { RowProblem } from './operator.ts';

/** @param bytes  of the row; null: its text is all there is */
export function redacted(problem: RowProblem, bytes: Uint8Array | null): RowProblem {
  if (problem.rawSha256 !== undefined) return problem;
  const hashed = bytes ?? (problem.raw === null ? null : new TextEncoder().encode(problem.raw));
  return {
    row: problem.row,
    code: problem.code,
    column: problem.column,
    message: REDACTED,
    raw: null,
    ...(problem.partition === undefined ? {} : { partition: problem.partition }),
    ...(hashed === null ? {} : { rawSha256: sha256(hashed) }),
  };
}
