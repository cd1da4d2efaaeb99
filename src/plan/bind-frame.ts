/** `ROWS BETWEEN … AND …` as written → a frame. */
import { type SqlType, typeName } from '../batch/types.ts';
import { intervalOfLiteral } from '../batch/interval.ts';
import type { Expr } from '../expr/expr.ts';
import type { Frame, FrameBound, SortKey } from '../expr/over.ts';
import type { Expression, FrameBound as WrittenBound, WindowFrame } from '../sql/ast-expression.ts';
import type { Diagnostics } from './diagnostics.ts';
import { castTo } from './functions.ts';

const DAY_MICROS = 86_400_000_000n;

/** From the first row of the partition to the row's equals; without an order all rows are equal. */
export const DEFAULT_FRAME: Frame = {
  unit: 'range',
  start: { tag: 'unbounded_preceding' },
  end: { tag: 'current_row' },
};

const PLACES: Readonly<Record<FrameBound['tag'], number>> = {
  unbounded_preceding: 0,
  preceding: 1,
  current_row: 2,
  following: 3,
  unbounded_following: 4,
};

/** The frame, or null after an error was reported. */
export function bindFrame(
  written: WindowFrame,
  orderBy: readonly SortKey[],
  bind: (expression: Expression) => Expr,
  diagnostics: Diagnostics,
): Frame | null {
  const { unit } = written;
  const measured = [written.start, written.end].some(
    ({ tag }) => tag === 'preceding' || tag === 'following',
  );
  const refuse = (message: string, hint: string): null => {
    diagnostics.error('INVALID_WINDOW', message, written.span, { hint });
    return null;
  };
  if (unit === 'groups' && orderBy.length === 0)
    return refuse('GROUPS needs an ORDER BY', 'add ORDER BY, or use ROWS');
  if (unit === 'range' && measured && orderBy.length !== 1)
    return refuse(
      'RANGE with a distance needs an ORDER BY of one expression',
      'order by the one that the distance is measured in, or use ROWS',
    );
  const key = unit === 'range' ? (orderBy[0]?.expr.type ?? null) : null;
  const start = bindBound(written.start, key, bind, diagnostics);
  const end = bindBound(written.end, key, bind, diagnostics);
  if (start === null || end === null) return null;
  const backwards =
    start.tag === 'unbounded_following' ||
    end.tag === 'unbounded_preceding' ||
    PLACES[start.tag] > PLACES[end.tag];
  if (backwards)
    return refuse('the frame ends before it starts', 'write BETWEEN the earlier AND the later end');
  return { unit, start, end };
}

function bindBound(
  bound: WrittenBound,
  key: SqlType | null,
  bind: (expression: Expression) => Expr,
  diagnostics: Diagnostics,
): FrameBound | null {
  if (bound.tag !== 'preceding' && bound.tag !== 'following') return { tag: bound.tag };
  const value = bind(bound.offset);
  const offset = key === null ? countOf(value) : distanceOf(value, key);
  if (offset !== null) return { tag: bound.tag, offset };
  const want =
    key === null
      ? 'a whole number of rows'
      : key.tag === 'timestamp' || key.tag === 'timestamptz'
        ? "an interval, such as interval '10 seconds',"
        : `a number as large as ${typeName(key)}`;
  diagnostics.error('INVALID_WINDOW', `the frame needs ${want} and not below zero`, bound.span, {
    hint: 'the distance must be a constant',
  });
  return null;
}

function countOf(value: Expr): string | null {
  const whole =
    value.tag === 'literal' && (value.type.tag === 'int32' || value.type.tag === 'int64');
  return whole && Number(value.value) >= 0 ? String(value.value) : null;
}

function distanceOf(value: Expr, key: SqlType): string | null {
  if (value.tag !== 'literal' || value.value === null) return null;
  if (key.tag === 'timestamp' || key.tag === 'timestamptz') {
    if (value.type.tag !== 'interval' || typeof value.value !== 'string') return null;
    const { months, days, micros } = intervalOfLiteral(value.value);
    const total = BigInt(days) * DAY_MICROS + BigInt(micros);
    return months === 0 && total >= 0n ? total.toString() : null;
  }
  if (key.tag !== 'int32' && key.tag !== 'int64' && key.tag !== 'float64') return null;
  if (value.type.tag === 'interval' || value.type.tag === 'text') return null;
  const cast = castTo(value, key, false);
  const number = cast.tag === 'expr' && cast.expr.tag === 'literal' ? cast.expr.value : null;
  return number !== null && Number(number) >= 0 ? String(number) : null;
}
