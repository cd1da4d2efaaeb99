/** The windows a row lies in, all data being there. */
import type { CallExpression, Expression } from '../../src/sql/ast-expression.ts';
import { floorDivide, intervalOf } from './time.ts';
import { Moment, Struct, type Value } from './value.ts';

export type Span = { readonly start: bigint; readonly end: bigint };

export const windowValue = ({ start, end }: Span): Value =>
  new Struct(
    new Map([
      ['start', new Moment(start)],
      ['end', new Moment(end)],
    ]),
  );

/** The span of a value that is a window; null for any other. */
export function spanOf(value: Value): Span | null {
  if (!(value instanceof Struct)) return null;
  const [start, end] = [value.fields.get('start'), value.fields.get('end')];
  return start instanceof Moment && end instanceof Moment && value.fields.size === 2
    ? { start: start.micros, end: end.micros }
    : null;
}

const lengthOf = (expression: Expression): bigint => {
  if (expression.tag === 'unary') return -lengthOf(expression.operand);
  if (expression.tag !== 'interval') throw new Error('the length of a window is an interval');
  return intervalOf(expression.text, expression.unit).length;
};

function lengths(call: CallExpression, names: readonly string[]): (bigint | undefined)[] {
  const positional = call.args.filter((arg) => arg.name === null);
  return names.map((name, at) => {
    const arg = call.args.find((each) => each.name?.name === name) ?? positional[at];
    return arg === undefined ? undefined : lengthOf(arg.value);
  });
}

/** The windows of `tumble`, `hop` and `cumulate` that hold a moment. */
export function windowsOf(call: CallExpression, time: bigint): Span[] {
  const { name } = call.name;
  if (call.args.some((arg) => arg.name?.name === 'timezone'))
    throw new Error('windows of a time zone are not in the evaluator');
  if (name === 'tumble') {
    const [width = 0n, offset = 0n] = lengths(call, ['width', 'offset']);
    const start = floorDivide(time - offset, width) * width + offset;
    return [{ start, end: start + width }];
  }
  if (name === 'hop') {
    const [slide = 0n, width = 0n, offset = 0n] = lengths(call, ['slide', 'width', 'offset']);
    const found: Span[] = [];
    const newest = floorDivide(time - offset, slide) * slide + offset;
    for (let start = newest; start + width > time; start -= slide)
      found.push({ start, end: start + width });
    return found;
  }
  const [step = 0n, width = 0n, offset = 0n] = lengths(call, ['step', 'width', 'offset']);
  const start = floorDivide(time - offset, width) * width + offset;
  const found: Span[] = [];
  for (let end = start + step; end <= start + width; end += step)
    if (end > time) found.push({ start, end });
  return found;
}

/** Sessions of moments of one key: rows less than the gap apart belong together. */
export function sessionsOf(call: CallExpression, times: readonly bigint[]): Span[] {
  const [gap = 0n] = lengths(call, ['gap']);
  const sorted = [...times].sort((left, right) => (left < right ? -1 : left > right ? 1 : 0));
  const sessions: { start: bigint; end: bigint }[] = [];
  for (const time of sorted) {
    const last = sessions.at(-1);
    if (last !== undefined && time < last.end) last.end = time + gap;
    else sessions.push({ start: time, end: time + gap });
  }
  return sessions;
}
