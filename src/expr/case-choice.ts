/** `CASE x WHEN 'a' THEN … WHEN 'b' THEN …` and the same with `x = 'a'`: one look at each text tells its branch. */
import { bitAt, type TextColumn } from '../batch/column.ts';
import { canFail, isConstant, isSteady } from './expr-tools.ts';
import type { Expr } from './expr.ts';
import { TextChoices } from './text-choices.ts';
import { encodeText } from './text-sink.ts';

/** The first branches of a CASE, which compare one text with constants. */
export type CaseChoice = { input: Expr; results: readonly Expr[]; choices: TextChoices };

/** Null: there are not two such branches. */
export function caseChoiceOf({ branches }: Expr & { tag: 'case' }): CaseChoice | null {
  let name = '';
  let input: Expr | null = null;
  const texts: string[] = [];
  for (const { when } of branches) {
    if (when.tag !== 'call' || when.fn !== 'equal') break;
    const [left, right] = when.args as readonly [Expr, Expr];
    if (right.tag !== 'literal' || typeof right.value !== 'string') break;
    if (left.type.tag !== 'text') break;
    if (input !== null && JSON.stringify(left) !== name) break;
    if (input === null) name = JSON.stringify(left);
    input = left;
    texts.push(right.value);
  }
  if (input === null || texts.length < 2) return null;
  if (isConstant(input) || canFail(input) || !isSteady(input)) return null;
  const results = branches.slice(0, texts.length).map(({ then }) => then);
  return { input, results, choices: new TextChoices(texts.map(encodeText)) };
}

/**
 * Sorts rows by the choice that their text is. Those of choice c are `order[starts[c], starts[c + 1])`, ascending; last come
 * the rows whose text is none of them.
 */
export function rowsByChoice(
  { bytes, offsets, validity }: TextColumn,
  rows: number,
  choices: TextChoices,
  count: number,
): { order: Int32Array; starts: Int32Array } {
  const chosen = new Int32Array(rows);
  const starts = new Int32Array(count + 3);
  for (let row = 0; row < rows; row++) {
    const isNull = validity !== null && !bitAt(validity, row);
    const found = isNull
      ? -1
      : choices.find(bytes, offsets[row] as number, offsets[row + 1] as number);
    const choice = found < 0 ? count : found;
    chosen[row] = choice;
    starts[choice + 2] = (starts[choice + 2] as number) + 1;
  }
  for (let choice = 2; choice < starts.length; choice++)
    starts[choice] = (starts[choice] as number) + (starts[choice - 1] as number);
  const order = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    const choice = (chosen[row] as number) + 1;
    const at = starts[choice] as number;
    order[at] = row;
    starts[choice] = at + 1;
  }
  return { order, starts };
}
