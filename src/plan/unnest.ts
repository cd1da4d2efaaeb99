/** The plan node of UNNEST. */
import { assert, must } from '../base/assert.ts';
import { INT64, type Field } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { PlanNode, UnnestNode } from './logical.ts';

export type UnnestParts = {
  /** Columns of the input that are handed on; absent: all. */
  kept?: readonly number[];
  lists: readonly Expr[];
  /** Of the columns of the elements, and of their places if those are shown. */
  names: readonly string[];
  ordinality: boolean;
  outer: boolean;
};

/** Columns: the kept ones of the input, an element of each list, the element's place. */
export function makeUnnest(input: PlanNode, parts: UnnestParts): UnnestNode {
  const { lists, names, ordinality, outer } = parts;
  const kept = parts.kept ?? input.schema.map((_, index) => index);
  const added = lists.map((list, at): Field => {
    assert(list.type.tag === 'list', 'UNNEST reads lists');
    return { name: must(names[at], 'a name'), type: list.type.element, nullable: true };
  });
  const place: Field[] = ordinality
    ? [{ name: must(names[lists.length], 'a name'), type: INT64, nullable: outer }]
    : [];
  const fields = [...added, ...place];
  return {
    tag: 'unnest',
    input,
    kept,
    lists,
    ordinality,
    outer,
    schema: [...kept.map((index) => must(input.schema[index], 'a column')), ...fields],
    updating: input.updating,
    keys: keysOf(input, kept, ordinality ? kept.length + lists.length : null),
    eventTime: input.eventTime,
    windows: [...kept.map((index) => input.windows[index] ?? null), ...fields.map(() => null)],
  };
}

/** What names a row, and the place of an element, name the row of the element. */
function keysOf(
  input: PlanNode,
  kept: readonly number[],
  place: number | null,
): readonly number[] | null {
  if (input.keys === null || place === null) return null;
  const keys = input.keys.map((key) => kept.indexOf(key));
  return keys.includes(-1) ? null : [...keys, place];
}
