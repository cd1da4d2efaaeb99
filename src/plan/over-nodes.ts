/** Plan nodes of OVER, Top-N and set operations. */
import { assert, must } from '../base/assert.ts';
import { INT64, type Field, sameType } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { OverCall, OverForm, SortKey } from '../expr/over.ts';
import type { OverNode, PlanNode, SetOperationNode, TopNNode } from './logical.ts';

export type OverParts = {
  form: OverForm;
  partitionBy: readonly Expr[];
  orderBy: readonly SortKey[];
  calls: readonly OverCall[];
};

/** Columns: the input's, then one per call. */
export function makeOver(
  input: PlanNode,
  parts: OverParts,
  callFields: readonly Field[],
): OverNode {
  assert(parts.calls.length === callFields.length, 'a column for each call');
  const stays = parts.form !== 'updating';
  return {
    tag: 'over',
    input,
    ...parts,
    schema: [...input.schema, ...callFields],
    updating: !stays,
    keys: stays ? null : input.keys,
    eventTime: stays,
    windows: [...input.windows, ...callFields.map(() => null)],
  };
}

export type TopNParts = {
  partitionBy: readonly Expr[];
  orderBy: readonly SortKey[];
  limit: number;
  offset: number;
  ties: boolean;
  /** The name of the column of the rank; null: it is not shown. */
  rank: string | null;
};

/** Columns: the input's, then the rank when it is shown. */
export function makeTopN(input: PlanNode, parts: TopNParts): TopNNode {
  const { rank } = parts;
  const width = input.schema.length;
  const rankFields = rank === null ? [] : [{ name: rank, type: INT64, nullable: false }];
  return {
    tag: 'top-n',
    input,
    ...parts,
    schema: [...input.schema, ...rankFields],
    updating: true,
    keys: topNKeys(input, parts, width),
    eventTime: false,
    windows: [...input.windows, ...rankFields.map(() => null)],
  };
}

/** A place among the first names a row; so does what named it in the input. */
function topNKeys(input: PlanNode, parts: TopNParts, width: number): readonly number[] | null {
  const { ties, rank, limit, offset, partitionBy } = parts;
  const partition = partitionBy.flatMap((expr) => (expr.tag === 'column' ? [expr.index] : []));
  const named = partition.length === partitionBy.length && !ties;
  if (named && limit === 1 && offset === 0 && partition.length > 0) return partition;
  if (named && rank !== null) return [...partition, width];
  return input.keys;
}

/** Columns of both inputs are of the same types; names are those of the first. */
export function makeSetOperation(
  operator: 'except' | 'intersect',
  all: boolean,
  inputs: readonly [PlanNode, PlanNode],
): SetOperationNode {
  const [left, right] = inputs;
  const schema = left.schema.map((field, index): Field => {
    const other = must(right.schema[index], 'column of a set operation');
    assert(sameType(field.type, other.type), 'both sides of a set operation have the same types');
    const nullable = operator === 'except' ? field.nullable : field.nullable && other.nullable;
    return { ...field, nullable };
  });
  return {
    tag: 'set-operation',
    operator,
    all,
    inputs,
    schema,
    updating: true,
    keys: all ? null : schema.map((_, index) => index),
    eventTime: false,
    windows: schema.map(() => null),
  };
}
