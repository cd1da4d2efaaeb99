/**
 * Whether rows are what DEFINE says of a variable.
 *
 * Place in the walk: stage 6, under MATCH_RECOGNIZE. The conditions joined by AND come apart: those that read the row in
 * hand, and rows a fixed number before it, are held against all rows at once; the others against each open way to match.
 * Failure: a row whose condition cannot be computed is not of the variable; who asks is told why.
 */
import type { BooleanColumn } from '../batch/column.ts';
import type { Expr } from '../expr/expr.ts';
import { exprColumns } from '../expr/expr-tools.ts';
import { readsNearby, type MatchExpr, type MatchShape } from '../expr/match.ts';
import { RowErrors, type RowError } from '../expr/row-errors.ts';
import type { RowStore } from '../state/row-store.ts';
import { isTrue, type MatchCases, MatchValues } from './match-values.ts';

export const NO = 0;
export const YES = 1;
export const FAILED = 2;

/** Of each case NO, YES or FAILED, and why it failed. */
export type Verdicts = { verdicts: Uint8Array; why: ReadonlyMap<number, RowError> };

export class MatchConditions {
  /** Of each variable; null: nothing to ask. */
  readonly nearby: readonly (MatchValues | null)[];
  readonly matched: readonly (MatchValues | null)[];
  /** Variables whose rows the conditions look back at. */
  readonly remembered: ReadonlySet<number>;

  constructor({ conditions, variables }: MatchShape, timeColumn: number) {
    const part = (condition: MatchExpr | null, nearby: boolean): MatchValues | null => {
      const kept =
        condition === null
          ? []
          : conjuncts(condition.expr).filter((each) => isNearby(each, condition) === nearby);
      const [first] = kept;
      if (condition === null || first === undefined) return null;
      const expr: Expr =
        kept.length === 1 ? first : { tag: 'and', args: kept, type: condition.expr.type };
      return new MatchValues({ ...condition, expr }, variables, timeColumn);
    };
    this.nearby = conditions.map((condition) => part(condition, true));
    this.matched = conditions.map((condition) => part(condition, false));
    this.remembered = new Set(
      conditions.flatMap((condition) =>
        [...(condition?.navigations ?? []), ...(condition?.aggregates ?? [])].flatMap(
          ({ variable }) => (variable === null ? [] : [variable]),
        ),
      ),
    );
  }
}

export function verdictsOf(values: MatchValues, cases: MatchCases, store: RowStore): Verdicts {
  const errors = new RowErrors(cases.count);
  const column = values.evaluate(cases, store, errors) as BooleanColumn;
  const verdicts = new Uint8Array(cases.count);
  for (let at = 0; at < cases.count; at++) verdicts[at] = isTrue(column, at) ? YES : NO;
  const why = new Map<number, RowError>();
  for (const error of errors.list) {
    verdicts[error.row] = FAILED;
    why.set(error.row, error);
  }
  return { verdicts, why };
}

const conjuncts = (expr: Expr): readonly Expr[] =>
  expr.tag === 'and' ? expr.args.flatMap(conjuncts) : [expr];

function isNearby(expr: Expr, { navigations }: MatchExpr): boolean {
  return [...exprColumns(expr)].every((column) => {
    const navigation = navigations[column];
    return navigation !== undefined && readsNearby(navigation);
  });
}
