/**
 * ASOF JOIN and FOR SYSTEM_TIME AS OF → a join with the last right row up to the left row's event time.
 *
 * Where the right side is the newest row of each key, its versions are joined: the rows it is made of, by the whole key.
 * Conditions on a version, and what a view computes of one, come behind the join, since a version that does not hold ends
 * the one before it all the same.
 */
import type { Expr } from '../expr/expr.ts';
import { mapColumns } from '../expr/expr-tools.ts';
import type { Join } from '../sql/ast-query.ts';
import {
  type Condition,
  type JoinContext,
  allOf,
  isLookup,
  planJoin,
  sortConditions,
} from './bind-join.ts';
import { boundsOf, offsetFromEventTime } from './event-time.ts';
import { makeJoin } from './join.ts';
import type { PlanNode } from './logical.ts';
import { columnExpr, makeFilter, makeProjectAs } from './nodes.ts';
import { must } from '../base/assert.ts';
import { resolved } from './subquery-rows.ts';
import { type Versions, bindKeys, versionsOf } from './table-versions.ts';

/** @param version  what FOR SYSTEM_TIME AS OF says; null: it is an ASOF JOIN */
export function planAsOfJoin(
  join: Join,
  left: PlanNode,
  right: PlanNode,
  conditions: readonly Condition[],
  version: Expr | null,
  context: JoinContext,
): PlanNode | null {
  const kind = join.kind === 'cross' ? 'inner' : join.kind;
  // A table that is read once has one version.
  if (!join.asOf && isLookup(right)) return planJoin(kind, left, right, conditions, context);
  const versions = right.updating ? versionsOf(right) : null;
  const refusal = refusalOf(join, left, right, versions, version);
  if (refusal !== null) return refuse(context, refusal);
  if (versions !== null) return joinVersions(join, left, right, versions, conditions, context);
  const draft = sortConditions(kind, left, right, conditions);
  const bounds = draft.others.map((condition) => boundsOf(condition, left, right));
  const [bound] = bounds;
  const strict = bound?.high === -1;
  const isLast =
    bounds.length === 1 && bound?.low === null && (bound.high === 0 || bound.high === -1);
  if (join.asOf ? !isLast : bounds.length > 0)
    return refuse(
      context,
      join.asOf
        ? NEEDS_BOUND
        : ['FOR SYSTEM_TIME AS OF takes equalities only', 'test other conditions in WHERE'],
    );
  if (draft.leftKeys.length === 0)
    return refuse(context, [
      'a join with the last row needs an equality',
      'write ON l.key = r.key AND …',
    ]);
  return makeJoin({ kind, ...draft, residual: null, time: { tag: 'as-of', strict } });
}

type Refusal = readonly [message: string, hint: string];

const NEEDS_BOUND: Refusal = [
  'ASOF JOIN takes equalities and one condition that the left event time is not before the right one',
  'write ON l.key = r.key AND l.ts >= r.ts, with the columns of WATERMARK FOR',
];

function refuse({ diagnostics, span }: JoinContext, [message, hint]: Refusal): null {
  diagnostics.error('UNSUPPORTED', message, span, { hint });
  return null;
}

/** What the two sides lack. */
function refusalOf(
  { kind, asOf }: Join,
  left: PlanNode,
  right: PlanNode,
  versions: Versions | null,
  version: Expr | null,
): Refusal | null {
  if (kind !== 'inner' && kind !== 'left')
    return [`a ${kind} join with the last row is not supported`, 'use JOIN or LEFT JOIN'];
  if (left.updating)
    return [
      'a join with the last row reads left rows that stay, and these are an updating result',
      'join the tables themselves, or use a plain JOIN',
    ];
  if (right.updating && versions === null && !isCorrected(right))
    return [
      'a join with the last row needs to tell the versions of the right side, and this updating result has none',
      'join a table of changes, the newest rows by row_number() OVER (PARTITION BY key ORDER BY ts DESC) = 1, or use a plain JOIN',
    ];
  if (!left.eventTime || !(versions?.changes ?? right).eventTime || arrives(versions))
    return ['both sides of a join with the last row need event times', 'declare WATERMARK FOR'];
  if (!asOf && (version === null || offsetFromEventTime(version, left) !== 0))
    return [
      "FOR SYSTEM_TIME AS OF takes the left side's event time",
      'write FOR SYSTEM_TIME AS OF l.ts, with ts the column of WATERMARK FOR',
    ];
  return null;
}

/** Whether changes have the time at which they come, which says nothing of when they were made. */
const arrives = (versions: Versions | null): boolean =>
  versions?.changes.tag === 'scan' && versions.changes.watermark === null;

/** Whether rows are corrected before event time passes them only: early results of windows. */
function isCorrected(node: PlanNode): boolean {
  if (node.tag === 'project' || node.tag === 'filter') return isCorrected(node.input);
  return node.tag === 'window-aggregate' && node.window.latenessMicros === undefined;
}

function joinVersions(
  join: Join,
  left: PlanNode,
  right: PlanNode,
  versions: Versions,
  conditions: readonly Condition[],
  context: JoinContext,
): PlanNode | null {
  const width = left.schema.length;
  const { changes, exprs } = versions;
  const bound = bindKeys(
    versions,
    conditions.map(({ expr }) => expr),
    width,
  );
  if (bound.pairs === null)
    return refuse(context, [
      'a join with the versions of a table needs an equality with each column of its key',
      `write ON l.key = r.${right.schema[right.keys?.[0] ?? 0]?.name ?? 'key'} AND …`,
    ]);
  const overChanges = (expr: Expr): Expr =>
    mapColumns(expr, (column) =>
      column.index < width ? column : behind(must(exprs[column.index - width], 'column')),
    );
  const behind = (expr: Expr): Expr =>
    mapColumns(expr, (column) => ({ ...column, index: column.index + width }));
  const rest = bound.rest.map(overChanges);
  const bounds = rest.map((expr) => boundsOf(expr, left, changes));
  const isBound = bounds.map((each) => each?.low === null && (each.high === 0 || each.high === -1));
  const at = isBound.indexOf(true);
  if (join.asOf ? at < 0 : at >= 0) return refuse(context, NEEDS_BOUND);
  const strict = bounds[at]?.high === -1;
  const kind = join.kind === 'left' ? 'left' : 'inner';
  const node = makeJoin({
    kind,
    left,
    right: changes,
    leftKeys: bound.pairs.map(([key]) => key),
    rightKeys: bound.pairs.map(([, key]) => key),
    nullsMeet: bound.pairs.map(() => false),
    residual: null,
    time: { tag: 'as-of', strict, versions: true },
  });
  const tested = [...rest.filter((_, index) => index !== at), ...versions.conditions.map(behind)];
  return shown(node, width, right, exprs.map(behind), tested, versions.keys);
}

/** The left columns and those of the version, which is there if the conditions hold. */
function shown(
  node: PlanNode & { tag: 'join' },
  width: number,
  right: PlanNode,
  exprs: readonly Expr[],
  conditions: readonly Expr[],
  keys: readonly number[],
): PlanNode {
  const fields = [...node.left.schema, ...right.schema];
  const own = node.left.schema.map((_, index) => columnExpr(node.schema, index));
  if (node.kind === 'inner') {
    const predicate = allOf(conditions);
    const kept = predicate === null ? node : makeFilter(node, predicate);
    return makeProjectAs(kept, [...own, ...exprs], fields);
  }
  const key = columnExpr(node.schema, width + must(keys[0], 'a key'));
  const present = must(allOf([resolved('is not null', [key]), ...conditions]), 'a condition');
  const padded = exprs.map((expr): Expr =>
    expr.tag === 'column' && conditions.length === 0
      ? expr
      : {
          tag: 'case',
          branches: [{ when: present, then: expr }],
          otherwise: null,
          type: expr.type,
        },
  );
  const nullable = fields.map((field, at) => (at < width ? field : { ...field, nullable: true }));
  return makeProjectAs(node, [...own, ...padded], nullable);
}
