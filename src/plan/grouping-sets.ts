/**
 * ROLLUP, CUBE and GROUPING SETS: one query that groups its rows several times.
 *
 * Place in the walk: binding. A set is a choice of the keys. Each row goes once into the grouping for each set, with NULL
 * for the keys that the set leaves out and the number of the set as one more key, so that a NULL that was left out is no NULL
 * of the data. What comes behind is an ordinary aggregate, in a window or without one.
 */
import type { SqlType } from '../batch/types.ts';
import { INT32 } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { Expression } from '../sql/ast-expression.ts';
import type { GroupingElement, GroupItem } from '../sql/ast-query.ts';
import { resolveCall } from './functions.ts';
import type { PlanNode } from './logical.ts';
import { columnExpr, type Grouped, makeProject, makeUnion } from './nodes.ts';

/** The most sets of one query. */
export const SETS_MAX = 64;

/** Keys that each set groups by, by their positions. */
export type Sets = readonly ReadonlySet<number>[];

type SetList = readonly (readonly Expression[])[];

/** The sets that GROUP BY asks for; null: there is one grouping, or there are too many sets. */
export function setsOf(items: readonly GroupItem[]): SetList | 'too many' | null {
  if (!items.some(({ tag }) => tag === 'grouping_sets')) return null;
  let sets: SetList = [[]];
  for (const item of items) {
    const choices =
      item.tag === 'grouping_sets' ? setsOfElement(item) : [expressionsOf(item as Expression)];
    if (choices === 'too many' || sets.length * choices.length > SETS_MAX) return 'too many';
    sets = sets.flatMap((set) => choices.map((choice) => [...set, ...choice]));
  }
  return sets;
}

/** Several expressions in parentheses read as a row. */
export const expressionsOf = (expression: Expression): readonly Expression[] =>
  expression.tag === 'row' ? expression.fields.map(({ value }) => value) : [expression];

function setsOfElement(element: GroupingElement): SetList | 'too many' {
  if (element.tag === 'grouping_set') return [element.expressions];
  const parts: SetList[] = [];
  for (const each of element.elements) {
    const sets = setsOfElement(each);
    if (sets === 'too many') return sets;
    parts.push(sets);
  }
  if (element.kind === 'sets') return bounded(parts.flat());
  // The elements of the other two are single sets.
  const units = parts.flat();
  if (element.kind === 'rollup')
    return bounded(
      Array.from({ length: units.length + 1 }, (_, left) =>
        units.slice(0, units.length - left).flat(),
      ),
    );
  if (2 ** units.length > SETS_MAX) return 'too many';
  return Array.from({ length: 2 ** units.length }, (_, absent) =>
    units.filter((_unit, at) => ((absent >> (units.length - 1 - at)) & 1) === 0).flat(),
  );
}

const bounded = (sets: SetList): SetList | 'too many' =>
  sets.length > SETS_MAX ? 'too many' : sets;

/** The rows once for each set, and the grouping over them: the keys, then the number of the set. */
export function groupedBySets(
  input: PlanNode,
  grouped: Grouped,
  sets: Sets,
): { input: PlanNode; grouped: Grouped } {
  const { schema } = input;
  const width = schema.length;
  const names = [...schema.map(({ name }) => name), ...grouped.keyNames, 'grouping_set'];
  const parts = sets.map((set, number) =>
    makeProject(
      input,
      [
        ...schema.map((_, index) => columnExpr(schema, index)),
        ...grouped.keys.map((key, index) => (set.has(index) ? key : nullOf(key.type))),
        numberOf(number),
      ],
      names,
    ),
  );
  const [first, second] = parts;
  const rows = second === undefined ? (first as PlanNode) : makeUnion(parts);
  const keys = [...grouped.keys.keys(), grouped.keys.length].map((key) =>
    columnExpr(rows.schema, width + key),
  );
  return {
    input: rows,
    grouped: { ...grouped, keys, keyNames: [...grouped.keyNames, 'grouping_set'] },
  };
}

const nullOf = (type: SqlType): Expr => ({ tag: 'literal', value: null, type });
const numberOf = (value: number): Expr => ({ tag: 'literal', value, type: INT32 });

/**
 * `grouping(…)` of these keys: a bit for each, the last one's the lowest, that is 1 where the set leaves the key out.
 *
 * @param set  the number of the set
 */
export function groupingBits(keys: readonly number[], sets: Sets, set: Expr): Expr {
  const values = sets.map((each) =>
    keys.reduce((bits, key) => bits * 2 + (each.has(key) ? 0 : 1), 0),
  );
  const usual = values.at(-1) ?? 0;
  const branches = values.flatMap((value, number) => {
    if (value === usual) return [];
    const when = resolveCall('=', [set, numberOf(number)]);
    return when.tag === 'expr' ? [{ when: when.expr, then: numberOf(value) }] : [];
  });
  if (branches.length === 0) return numberOf(usual);
  return { tag: 'case', branches, otherwise: numberOf(usual), type: INT32 };
}
