/** ASOF JOIN and FOR SYSTEM_TIME AS OF → a join with the last right row up to the left row's event time. */
import type { Expr } from '../expr/expr.ts';
import type { Join } from '../sql/ast-query.ts';
import {
  type Condition,
  type JoinContext,
  isLookup,
  planJoin,
  sortConditions,
} from './bind-join.ts';
import { boundsOf, offsetFromEventTime } from './event-time.ts';
import { makeJoin } from './join.ts';
import type { JoinNode, PlanNode } from './logical.ts';

/** @param version  what FOR SYSTEM_TIME AS OF says; null: it is an ASOF JOIN */
export function planAsOfJoin(
  join: Join,
  left: PlanNode,
  right: PlanNode,
  conditions: readonly Condition[],
  version: Expr | null,
  context: JoinContext,
): JoinNode | null {
  const kind = join.kind === 'cross' ? 'inner' : join.kind;
  // A table that is read once has one version.
  if (!join.asOf && isLookup(right)) return planJoin(kind, left, right, conditions, context);
  const refusal = refusalOf(join, left, right, version);
  if (refusal !== null) return refuse(context, refusal);
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
        ? [
            'ASOF JOIN takes equalities and one condition that the left event time is not before the right one',
            'write ON l.key = r.key AND l.ts >= r.ts, with the columns of WATERMARK FOR',
          ]
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

function refuse({ diagnostics, span }: JoinContext, [message, hint]: Refusal): null {
  diagnostics.error('UNSUPPORTED', message, span, { hint });
  return null;
}

/** What the two sides lack. */
function refusalOf(
  { kind, asOf }: Join,
  left: PlanNode,
  right: PlanNode,
  version: Expr | null,
): Refusal | null {
  if (kind !== 'inner' && kind !== 'left')
    return [`a ${kind} join with the last row is not supported`, 'use JOIN or LEFT JOIN'];
  if (left.updating || right.updating)
    return [
      'a join with the last row reads rows that stay, and one side is an updating result',
      'join the tables themselves, or use a plain JOIN',
    ];
  if (!left.eventTime || !right.eventTime)
    return ['both sides of a join with the last row need event times', 'declare WATERMARK FOR'];
  if (!asOf && (version === null || offsetFromEventTime(version, left) !== 0))
    return [
      "FOR SYSTEM_TIME AS OF takes the left side's event time",
      'write FOR SYSTEM_TIME AS OF l.ts, with ts the column of WATERMARK FOR',
    ];
  return null;
}
