/**
 * Subqueries in HAVING and in the SELECT list of a grouped query.
 *
 * They are joined to the groups, which are not there yet when the expressions are bound: until then stand-in columns stand
 * for their values.
 */
import type { Expr } from '../expr/expr.ts';
import { mapColumns } from '../expr/expr-tools.ts';
import type { Environment } from './bind-from.ts';
import {
  type ExpressionContext,
  POISON,
  SUBQUERY_STAND_INS,
  type Subquery,
  isSubqueryStandIn,
} from './expression-context.ts';
import type { Prepared } from './subquery-aggregate.ts';
import type { Rows } from './subquery-rows.ts';
import { prepareSubquery } from './subquery-value.ts';

export class GroupedSubqueries {
  readonly #environment: Environment;
  readonly #known: ReadonlyMap<Subquery, Expr>;
  readonly #prepared: { prepared: Prepared; expression: Subquery }[] = [];
  #values: readonly Expr[] = [];

  /** @param known  subqueries that are joined to the rows that are grouped, since a key is one */
  constructor(environment: Environment, known: ReadonlyMap<Subquery, Expr>) {
    this.#environment = environment;
    this.#known = known;
  }

  /** The context of expressions over the groups. */
  within(context: ExpressionContext): ExpressionContext {
    const inside: ExpressionContext = {
      ...context,
      subquery: (expression) => {
        const known = this.#known.get(expression);
        if (known !== undefined) return known;
        const prepared = prepareSubquery(expression, inside, this.#environment);
        const type = prepared?.types[0];
        if (prepared === null || type === undefined) return POISON;
        const at = this.#prepared.push({ prepared, expression }) - 1;
        return { tag: 'column', index: SUBQUERY_STAND_INS + at, type };
      },
    };
    return inside;
  }

  /**
   * Joins the subqueries to the groups.
   *
   * @param regroup  an expression over the input → over the groups
   * @returns        whether that was possible
   */
  attach(rows: Rows, regroup: (expr: Expr, source: Subquery) => Expr): boolean {
    for (const { prepared, expression } of this.#prepared) {
      if (rows.node === null) return false;
      const move = (expr: Expr): Expr => this.settle(regroup(expr, expression));
      const value = prepared.attach(rows, move)?.[0];
      if (value === undefined) return false;
      this.#values = [...this.#values, value];
    }
    return true;
  }

  /** The expression with the values in place of the stand-ins. */
  settle(expr: Expr): Expr {
    if (expr === POISON || this.#values.length === 0) return expr;
    return mapColumns(expr, (column) =>
      isSubqueryStandIn(column)
        ? (this.#values[column.index - SUBQUERY_STAND_INS] ?? POISON)
        : column,
    );
  }
}
