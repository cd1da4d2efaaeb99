/** One line for people about a join. */
import type { Expr } from '../expr/expr.ts';
import { printOver } from './describe.ts';
import { formatInterval } from './interval.ts';
import type { JoinNode, JoinTime } from './logical.ts';

const NAMES: Readonly<Record<JoinNode['kind'], string>> = {
  inner: 'join',
  left: 'left join',
  right: 'right join',
  full: 'full join',
  semi: 'semi join',
  anti: 'anti join',
};

export function describeJoin(node: JoinNode): string {
  const parts = [`${prefixOf(node.time)}${NAMES[node.kind]}`];
  const conditions = node.leftKeys.map((key, index) => {
    const other = node.rightKeys[index] as Expr;
    const sign = node.nullsMeet[index] === true ? 'is not distinct from' : '=';
    return `${printOver(key, node.left.schema)} ${sign} ${printOver(other, node.right.schema)}`;
  });
  if (node.residual !== null)
    conditions.push(printOver(node.residual, [...node.left.schema, ...node.right.schema]));
  if (conditions.length > 0) parts.push(`on ${conditions.join(' and ')}`);
  const bound = describeBound(node.time);
  if (bound !== null) parts.push(bound);
  return parts.join(' ');
}

function prefixOf(time: JoinTime): string {
  switch (time.tag) {
    case 'any':
      return '';
    case 'interval':
      return 'interval ';
    case 'window':
      return 'window ';
    case 'lookup':
      return 'lookup ';
    case 'as-of':
      return time.versions === true ? 'temporal ' : 'as-of ';
  }
}

function describeBound(time: JoinTime): string | null {
  if (time.tag === 'as-of') {
    const when = `${time.strict ? 'before' : 'up to'} the left`;
    return time.versions === true ? `at the version ${when}` : `at the last time ${when}`;
  }
  if (time.tag !== 'interval') return null;
  const { lowMicros, highMicros } = time;
  if (lowMicros === null && highMicros === null) return null;
  if (lowMicros === null) return `within right - left <= ${signed(highMicros ?? 0)}`;
  if (highMicros === null) return `within right - left >= ${signed(lowMicros)}`;
  return `within ${signed(lowMicros)} <= right - left <= ${signed(highMicros)}`;
}

export const signed = (micros: number): string =>
  micros < 0 ? `-${formatInterval(-micros)}` : micros === 0 ? '0 seconds' : formatInterval(micros);
