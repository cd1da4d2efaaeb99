/** Rule about rows that fail while others pass: nothing is broken, and somebody should look. */
import { type Facts, type Finding, sourceRef } from './health-facts.ts';
import { counted, were } from './health-words.ts';
import type { StatusOperator } from './status-shapes.ts';

/** Rows that failed longer ago are history: they are told behind what flows. */
const RECENT_MICROS = 600_000_000;

/** Of operators where no row has passed `ALL_BAD` tells. */
function isAllBad(operator: StatusOperator, sources: Facts['sources']): boolean {
  const isSource = sources.some((source) => source.operator === operator);
  return operator.rows_out === 0 && (isSource || operator.errors >= operator.rows_in);
}

export function badRowsFinding({ status, errors, sources }: Facts): Finding | null {
  const failing = status.operators.filter((each) => each.errors > 0 && !isAllBad(each, sources));
  const count = failing.reduce((sum, operator) => sum + operator.errors, 0);
  if (count === 0) return null;
  const last = errors.findLast(
    ({ code, operator }) =>
      code !== 'LATE_ROW' && failing.some(({ operator_id: id }) => id === operator),
  );
  const where = failing.find(({ operator_id: id }) => id === last?.operator);
  const reason = last === undefined ? '' : `, the last with ${last.code}: ${last.message}`;
  const source = sources.find(({ operator }) => operator === where);
  const isOver = status.state !== 'Running';
  const isRecent = last !== undefined && status.at - last.atMs * 1000 < RECENT_MICROS;
  return {
    level: isOver || isRecent ? 'warning' : 'ok',
    code: 'SOME_BAD',
    sentence: `${counted(count, 'row')} failed and ${were(count)} left out${reason}.`,
    fix: {
      text: 'The others pass. Keep such rows out with WHERE, or read them as NULL with TRY_CAST or NULLIF.',
    },
    source: source === undefined ? null : sourceRef(source),
  };
}
