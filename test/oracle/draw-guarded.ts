/**
 * Random expressions that say the same part several times, and some of whose parts would fail in rows for which they are
 * not computed: no row fails.
 */
import type { Prng } from '../../src/base/prng.ts';
import { onlyOurs, pair, sql, type Sql } from './dialects.ts';
import type { ColumnType } from './tables.ts';

type Of = (type: ColumnType, depth: number) => Sql;

/** One part of a CASE in its conditions and its values. */
export function repeated(prng: Prng, of: Of, type: ColumnType, depth: number): Sql {
  const part = of(type, depth);
  const other = of(type, Math.min(depth, 1));
  const third = of(type, 0);
  return prng.pick([
    sql`CASE WHEN ${part} IS NULL THEN ${other} WHEN ${part} = ${other} THEN ${third} ELSE ${part} END`,
    sql`CASE ${part} WHEN ${other} THEN ${part} WHEN ${third} THEN ${other} END`,
    sql`CASE WHEN ${part} < ${other} THEN ${part} WHEN ${part} > ${other} THEN ${other} ELSE ${third} END`,
    sql`coalesce(nullif(${part}, ${other}), CASE WHEN ${part} = ${third} THEN ${part} ELSE ${other} END)`,
  ]);
}

const quotient = (over: Sql, under: Sql, operator: '/' | '%'): Sql =>
  operator === '%'
    ? sql`(${over} % ${under})`
    : pair(
        `(${over.ours} / ${under.ours})`,
        over.duck === null || under.duck === null ? null : `(${over.duck} // ${under.duck})`,
      );

/** A quotient, said several times where it can be computed. */
export function guardedNumber(prng: Prng, of: Of, depth: number): Sql {
  const under = of('bigint', Math.min(depth, 1));
  const part = quotient(of('bigint', Math.min(depth, 1)), under, prng.pick(['/', '%']));
  const other = of('bigint', 0);
  const text = of('text', 0);
  const number = onlyOurs(sql`CAST((${text} || '') AS BIGINT)`);
  return prng.pick([
    sql`CASE WHEN ${under} <> 0 THEN (${part} + ${part}) ELSE ${other} END`,
    sql`CASE WHEN ${under} = 0 THEN ${other} WHEN ${part} > ${other} THEN ${part} ELSE -${part} END`,
    sql`CASE WHEN ${under} <> 0 AND ${part} >= ${other} THEN ${part} WHEN ${under} = 0 OR ${part} < -1 THEN ${other} END`,
    sql`CASE ${under} WHEN 0 THEN ${other} ELSE ${part} * 2 - ${part} END`,
    sql`coalesce(CASE WHEN ${under} = 0 THEN ${under} END, ${part}, ${part})`,
    sql`CASE WHEN ${text} = '10' THEN ${number} + ${number} ELSE ${other} END`,
    sql`CASE WHEN ${text} IN ('10', '7') THEN ${number} WHEN ${under} <> 0 THEN ${part} ELSE ${under} END`,
  ]);
}

/** A condition that stops before what would fail. */
export function guardedCondition(prng: Prng, of: Of, depth: number): Sql {
  const under = of('bigint', Math.min(depth, 1));
  const part = quotient(of('bigint', Math.min(depth, 1)), under, prng.pick(['/', '%']));
  const other = of('bigint', 0);
  return prng.pick([
    sql`(${under} <> 0 AND ${part} > ${other})`,
    sql`(${under} = 0 OR ${part} = ${other} OR ${part} < 0)`,
    sql`(CASE WHEN ${under} = 0 THEN ${of('boolean', 0)} ELSE ${part} <> ${other} AND ${part} IS NOT NULL END)`,
  ]);
}
