/** CASE: each branch takes rows of those that are open, and its value is computed for these. */
import type { BooleanColumn, TextColumn } from '../batch/column.ts';
import { bitAt } from '../batch/column.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import { caseChoiceOf, rowsByChoice, type CaseChoice } from './case-choice.ts';
import type { Expr } from './expr.ts';
import { allRows, type Node, type Part } from './parts.ts';
import type { RowErrors } from './row-errors.ts';
import { Assembly, expandConstant } from './select.ts';
import { strideOf } from './vector.ts';

const NO_INDICES = new Int32Array(0);

/** The rows that no branch has taken yet, and where the values of the others are. */
type CaseState = { assembly: Assembly; open: Int32Array; openCount: number };

export function caseNode(
  expr: Expr & { tag: 'case' },
  compileNode: (expr: Expr) => Node,
  compilePart: (expr: Expr) => Part,
): Node {
  const choice = caseChoiceOf(expr);
  const choose =
    choice === null
      ? null
      : choiceTaker(choice, compileNode(choice.input), choice.results.map(compilePart));
  const branches = expr.branches.slice(choice?.results.length ?? 0).map(({ when, then }) => ({
    when: compilePart(when),
    then: compilePart(then),
  }));
  const otherwise = expr.otherwise === null ? null : compilePart(expr.otherwise);
  return (batch, errors) => {
    const { rows } = batch;
    const state = {
      assembly: new Assembly(rows),
      open: choose === null ? allRows(rows) : NO_INDICES,
      openCount: rows,
    };
    choose?.(batch, errors, state);
    for (const { when, then } of branches) {
      if (state.openCount === 0) break;
      takeBranch(batch, errors, state, when, then);
    }
    if (otherwise !== null)
      takeRows(batch, errors, state.assembly, otherwise, state.open, state.openCount);
    return state.assembly.finish(expr.type, errors);
  };
}

/** These rows have the value of a part. */
function takeRows(
  batch: RecordBatch,
  errors: RowErrors,
  assembly: Assembly,
  part: Part,
  indices: Int32Array,
  count: number,
): void {
  if (count === 0) return;
  const { column, gathered } = part.run(batch, indices, count, errors);
  assembly.placeAll(indices, count, assembly.add(column), gathered);
}

function takeBranch(
  batch: RecordBatch,
  errors: RowErrors,
  state: CaseState,
  when: Part,
  then: Part,
): void {
  const { open, openCount } = state;
  const { column, gathered } = when.run(batch, open, openCount, errors);
  const { bits, validity } = column as BooleanColumn;
  const isConstantColumn = strideOf(column) === 0;
  const taken = new Int32Array(openCount);
  const left = new Int32Array(openCount);
  let takenCount = 0;
  let leftCount = 0;
  for (let i = 0; i < openCount; i++) {
    const row = open[i] as number;
    if (errors.hasFailed(row)) continue;
    const at = isConstantColumn ? 0 : gathered ? i : row;
    if (bitAt(bits, at) && (validity === null || bitAt(validity, at))) taken[takenCount++] = row;
    else left[leftCount++] = row;
  }
  takeRows(batch, errors, state.assembly, then, taken, takenCount);
  state.open = left;
  state.openCount = leftCount;
}

/** The first branches of `CASE x WHEN 'a' THEN … WHEN 'b' THEN …`. */
function choiceTaker(
  { choices }: CaseChoice,
  node: Node,
  thens: readonly Part[],
): (batch: RecordBatch, errors: RowErrors, state: CaseState) => void {
  const last = thens.length;
  return (batch, errors, state) => {
    const texts = expandConstant(node(batch, errors), batch.rows, errors) as TextColumn;
    const { order, starts } = rowsByChoice(texts, batch.rows, choices, last);
    const of = (choice: number): Int32Array => order.subarray(starts[choice], starts[choice + 1]);
    thens.forEach((then, choice) => {
      const rows = of(choice);
      takeRows(batch, errors, state.assembly, then, rows, rows.length);
    });
    state.open = of(last);
    state.openCount = state.open.length;
  };
}
