/**
 * Refuses plans that can not run. The binder lets none through and rules keep it so: what fails here is a
 * bug of ours, found before a job starts with it.
 */
import { assert } from '../../base/assert.ts';
import { type Schema, sameType, typeName } from '../../batch/types.ts';
import { childrenOf } from '../../expr/expr-tools.ts';
import type { Expr } from '../../expr/expr.ts';
import { aggregateOperands, overOperands, userCallOperands } from '../expressions.ts';
import { matchOperands } from '../match-nodes.ts';
import { isInvertible } from '../functions.ts';
import type {
  JoinNode,
  LogicalPlan,
  OverNode,
  PlanNode,
  ScanNode,
  SinkPlan,
  WindowAggregateNode,
} from '../logical.ts';
import { nodesOf } from '../rewrite.ts';
import type { Rule } from './rule.ts';

export const checkPlanRule: Rule = {
  name: 'check the plan',
  apply: (plan) => {
    checkPlan(plan);
    return plan;
  },
};

export function checkPlan(plan: LogicalPlan): void {
  assert(plan.sinks.length > 0, 'a plan has a sink');
  for (const node of nodesOf(plan)) checkNode(node);
  for (const sink of plan.sinks) checkSink(sink);
}

function checkSink(sink: SinkPlan): void {
  const { input, schema, keyColumns } = sink;
  const fits =
    input.schema.length === schema.length &&
    schema.every((field, index) => sameType(field.type, input.schema[index]?.type ?? field.type));
  assert(fits, `the input of sink ${sink.table} has its columns (INV-25)`);
  assert(
    keyColumns.every((column) => column >= 0 && column < schema.length),
    `the keys of sink ${sink.table} are columns`,
  );
  assert(
    new Set(schema.map((field) => field.name)).size === schema.length,
    `the columns of sink ${sink.table} have different names`,
  );
}

function checkNode(node: PlanNode): void {
  assert(
    node.windows.length === node.schema.length,
    `${node.tag} tells of every column whether it is a window`,
  );
  switch (node.tag) {
    case 'scan':
      return checkScan(node);
    case 'project':
      node.exprs.forEach((expr) => checkExpr(expr, node.input.schema));
      return checkTypes(node, node.exprs);
    case 'filter':
      assert(node.predicate.type.tag === 'boolean', 'a filter has a condition');
      return checkExpr(node.predicate, node.input.schema);
    case 'window-aggregate':
      checkWindow(node);
      assert(
        node.outputs.length === node.schema.length,
        'a window aggregate has one output per column',
      );
      return checkOperands(node);
    case 'window-best':
      assert(!node.input.updating && node.input.eventTime, 'rows that are compared stay');
      assert(node.column < node.schema.length, 'the best of a column of the input');
      return;
    case 'updating-aggregate':
      assert(
        node.schema.length === node.groupBy.length + node.aggregates.length,
        'an updating aggregate gives keys and aggregates',
      );
      return checkOperands(node);
    case 'newest-by-key':
      assert(
        !node.input.updating && node.keyColumns.every((key) => key < node.schema.length),
        'the newest row by columns of rows as they come',
      );
      return;
    case 'join':
      return checkJoin(node);
    case 'over':
      return checkOver(node);
    case 'top-n':
      assert(node.limit > 0 && node.offset >= 0, 'a Top-N has first rows');
      return checkColumns(
        [...node.partitionBy, ...node.orderBy.map(({ expr }) => expr)],
        node.input.schema,
      );
    case 'unnest':
      node.lists.forEach((list) => {
        assert(list.type.tag === 'list', 'UNNEST reads lists');
        checkExpr(list, node.input.schema);
      });
      return;
    case 'user-function':
      for (const expr of node.calls.flatMap(userCallOperands)) checkExpr(expr, node.input.schema);
      return;
    case 'match':
      assert(!node.input.updating && node.input.eventTime, 'rows that are matched stay');
      return checkColumns(matchOperands(node), node.input.schema);
    case 'set-operation':
    case 'union':
      assert(
        node.inputs.length > 1 &&
          node.inputs.every((input) => input.schema.length === node.schema.length),
        'the inputs of a union have its columns',
      );
  }
}

function checkJoin(node: JoinNode): void {
  const { left, right, leftKeys, rightKeys, nullsMeet, residual, time } = node;
  assert(
    leftKeys.length === rightKeys.length && leftKeys.length === nullsMeet.length,
    'the keys of a join come in pairs',
  );
  leftKeys.forEach((key, index) => {
    checkExpr(key, left.schema);
    checkExpr(rightKeys[index] as Expr, right.schema);
    assert(
      sameType(key.type, rightKeys[index]?.type ?? key.type),
      'both keys of a pair have one type',
    );
  });
  if (residual !== null) checkExpr(residual, [...left.schema, ...right.schema]);
  if (time.tag === 'any' || time.tag === 'lookup') return;
  assert(
    !left.updating &&
      (!right.updating || time.tag === 'as-of') &&
      left.eventTime &&
      right.eventTime,
    `a join by ${time.tag} reads rows that stay and have a time`,
  );
}

function checkWindow({ input, window, windowColumn, aggregates }: WindowAggregateNode): void {
  assert(
    input.eventTime && (!input.updating || aggregates.every(isInvertible)),
    'a window stands over rows that have a time and can be taken in and back (INV-26)',
  );
  if (windowColumn !== null) {
    assert(input.schema[windowColumn]?.type.tag === 'struct', 'a window column is a struct');
    return;
  }
  if (window.tag === 'session') {
    assert(window.gapMicros > 0 && !input.updating, 'a session is over rows that stay');
    return;
  }
  assert(
    window.widthMicros > 0 &&
      window.offsetMicros >= 0 &&
      window.offsetMicros < (window.tag === 'hop' ? window.slideMicros : window.widthMicros),
    'a window has a width and its smallest offset',
  );
}

function checkOver(node: OverNode): void {
  assert(
    node.schema.length === node.input.schema.length + node.calls.length,
    'OVER adds a column for each call',
  );
  assert(
    node.form === 'updating' || (!node.input.updating && node.input.eventTime),
    'rows that leave by event time have one and stay',
  );
  checkColumns(overOperands(node), node.input.schema);
}

/** What the OVER operators read must be there already. */
function checkColumns(exprs: readonly Expr[], schema: Schema): void {
  for (const expr of exprs) {
    assert(expr.tag === 'column', 'OVER reads columns only');
    checkExpr(expr, schema);
  }
}

function checkScan(scan: ScanNode): void {
  scan.computed.forEach((expr) => checkExpr(expr, scan.physical));
  checkTypes(scan, scan.computed);
  if (scan.watermark === null) return;
  for (const expr of [scan.watermark.eventTime, scan.watermark.watermark]) {
    checkExpr(expr, scan.schema);
    assert(expr.type.tag === 'timestamp', 'event time and watermark are timestamps');
  }
}

function checkOperands(node: PlanNode & { tag: 'window-aggregate' | 'updating-aggregate' }): void {
  for (const key of node.groupBy) checkExpr(key, node.input.schema);
  for (const call of node.aggregates)
    for (const operand of aggregateOperands(call)) checkExpr(operand, node.input.schema);
}

function checkTypes(node: PlanNode, exprs: readonly Expr[]): void {
  assert(exprs.length === node.schema.length, `${node.tag} has one expression per column`);
  exprs.forEach((expr, index) =>
    assert(
      sameType(expr.type, node.schema[index]?.type ?? expr.type),
      `column ${index} of ${node.tag} has the type of its expression`,
    ),
  );
}

function checkExpr(expr: Expr, schema: Schema): void {
  if (expr.tag === 'column') {
    const field = schema[expr.index];
    assert(field !== undefined, `column ${expr.index} is within ${schema.length} columns (INV-24)`);
    assert(
      sameType(field.type, expr.type),
      `column "${field.name}" is ${typeName(field.type)}, not ${typeName(expr.type)}`,
    );
  }
  for (const child of childrenOf(expr)) checkExpr(child, schema);
}
