/** A row's problem as it travels to the leader: for the log of the job, and for the table of rows that went wrong. */
import type { ErrorCode } from '../base/errors.ts';
import { ERROR_CODES } from '../base/errors.ts';
import type { RowProblem } from '../operators/operator.ts';
import { redacted } from '../operators/redact.ts';
import type { JobError } from '../protocol/messages.ts';

const DETAIL_CHARACTERS_MAX = 500;
const RAW_BYTES_MAX = 2_048;

const encoder = new TextEncoder();
const room = new Uint8Array(RAW_BYTES_MAX);

export function problemRecord(
  operator: string,
  subtask: number,
  kind: 'error' | 'late',
  problem: RowProblem,
  nowMs: number,
  redact: boolean,
): JobError {
  const code: ErrorCode = kind === 'late' ? 'LATE_ROW' : problem.code;
  const shown = redact ? redacted(problem, null) : problem;
  const { column, message, raw, rawSha256, partition } = shown;
  return {
    atMs: nowMs,
    operator,
    subtask,
    code,
    message: message.includes(column) ? message : `${column}: ${message}`,
    detail: raw === null ? '' : raw.slice(0, DETAIL_CHARACTERS_MAX),
    domain: ERROR_CODES[code].domain,
    row: {
      column: column === '' ? null : column,
      reason: message,
      raw: raw === null ? null : beginning(raw),
      rawSha256: rawSha256 ?? null,
      partition: partition ?? null,
    },
  };
}

/** As many whole characters as fit. */
function beginning(text: string): string {
  if (text.length * 3 <= RAW_BYTES_MAX) return text;
  return text.slice(0, encoder.encodeInto(text, room).read);
}
