/** `SET updating_ttl = interval '1 day'`. */
import type { SetStatement } from '../sql/ast-statement.ts';
import type { Diagnostics } from './diagnostics.ts';
import { parseInterval } from './interval.ts';

/** Micros, or null: never. */
export function bindTtl(statement: SetStatement, diagnostics: Diagnostics): number | null {
  const { value } = statement;
  const text = value.tag === 'interval' ? value.text : value.tag === 'string' ? value.value : null;
  const unit = value.tag === 'interval' ? value.unit : null;
  const interval = text === null ? null : parseInterval(text, unit);
  if (interval === null || interval.months !== 0 || interval.micros <= 0n) {
    diagnostics.error(
      'INVALID_OPTION',
      'updating_ttl must be a length of time, and more than nothing',
      value.span,
      { suggestion: "interval '1 day'" },
    );
    return null;
  }
  return Number(interval.micros);
}
