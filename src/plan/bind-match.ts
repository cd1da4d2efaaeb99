/**
 * MATCH_RECOGNIZE → a node that gives a row for each match.
 *
 * What is refused: input whose rows may be taken back, an order that does not begin with the event time, a pattern
 * that can match no row, and one whose matches can wait for ever because nothing bounds their number of rows or time.
 */
import type { Span } from '../base/errors.ts';
import { LIMITS } from '../base/limits.ts';
import { fixedMicros, intervalOfLiteral } from '../batch/interval.ts';
import type { Field } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import { childrenOf, mapColumns } from '../expr/expr-tools.ts';
import type { MatchExpr, MatchSkip } from '../expr/match.ts';
import type { SortKey } from '../expr/over.ts';
import { isUserCall } from '../expr/user-function.ts';
import type { Identifier } from '../sql/ast.ts';
import type { MatchRecognize } from '../sql/ast-match.ts';
import { printPattern } from '../sql/print-match.ts';
import { ExpressionBinder } from './bind-expression.ts';
import { bindSortKeys } from './bind-over.ts';
import { type Diagnostics, withSuggestion } from './diagnostics.ts';
import { eventOrderOf } from './event-order.ts';
import { POISON, tableContext } from './expression-context.ts';
import { nearestName, quoteName } from './name-text.ts';
import { warnOfArrival } from './warn-of-arrival.ts';
import type { MatchNode, PlanNode } from './logical.ts';
import { MatchBinder, type MatchRows, mayBeNull } from './match-expressions.ts';
import { makeMatch } from './match-nodes.ts';
import { columnExpr, makeProject } from './nodes.ts';
import {
  certainVariables,
  compilePattern,
  firstVariables,
  programSize,
  rowsOfPattern,
  variablesOf,
} from './match-program.ts';
import { type BoundQuery, type Scope, UNKNOWN_QUERY, queryOf } from './scope.ts';

/** @param node  the rows that are matched; null after an error */
export function bindMatch(
  match: MatchRecognize,
  scope: Scope,
  node: PlanNode | null,
  diagnostics: Diagnostics,
): BoundQuery {
  if (node === null) return UNKNOWN_QUERY;
  const bound = new MatchClauses(match, scope, node, diagnostics).bind();
  return bound === null ? UNKNOWN_QUERY : queryOf(bound);
}

type BoundMeasure = { expr: MatchExpr; field: Field };

class MatchClauses {
  readonly #match: MatchRecognize;
  readonly #scope: Scope;
  readonly #input: PlanNode;
  readonly #diagnostics: Diagnostics;
  readonly #variables: readonly string[];
  /** As CLASSIFIER() gives them. */
  readonly #written: readonly string[];

  constructor(match: MatchRecognize, scope: Scope, input: PlanNode, diagnostics: Diagnostics) {
    this.#match = match;
    this.#scope = scope;
    this.#input = input;
    this.#diagnostics = diagnostics;
    const variables = variablesOf(match.pattern);
    this.#variables = [...variables.keys()];
    this.#written = [...variables.values()];
  }

  bind(): PlanNode | null {
    const before = this.#diagnostics.count;
    const { pattern, span } = this.#match;
    this.#checkInput(span);
    this.#checkPattern();
    const partitionBy = this.#partition();
    const orderBy = this.#order();
    const withinMicros = this.#within();
    const skip = this.#skip();
    const conditions = this.#conditions();
    const measures = this.#measures();
    if (this.#diagnostics.count > before) return null;
    const parts = measures.flatMap((measure) => this.#computed(measure));
    const match = makeMatch(
      this.#input,
      {
        partitionBy,
        orderBy,
        variables: this.#written,
        program: compilePattern(pattern, this.#variables),
        conditions,
        measures: parts.map(({ expr }) => expr),
        skip,
        withinMicros,
      },
      printPattern(pattern),
      parts.map(({ field }) => field),
    );
    const isPlain = !measures.some(({ expr }) => callsUser(expr.expr));
    return isPlain ? match : overMatches(match, measures);
  }

  /** What the match gives for a measure: the measure, or, if it calls the user's own code, what that reads. */
  #computed({ expr, field }: BoundMeasure): BoundMeasure[] {
    if (!callsUser(expr.expr)) return [{ expr, field }];
    return operandsOf(expr).map((operand, at) => {
      const nullable = mayBeNull(operand, this.#input.schema, this.#certain());
      const name = `${field.name}_${at + 1}`;
      return { expr: operand, field: { name, type: operand.expr.type, nullable } };
    });
  }

  #certain(): Set<number> {
    const certain = certainVariables(this.#match.pattern);
    return new Set(this.#variables.flatMap((name, at) => (certain.has(name) ? [at] : [])));
  }

  #refuse(message: string, span: Span, hint: string, code: 'pattern' | 'unsupported' = 'pattern') {
    this.#diagnostics.error(code === 'pattern' ? 'INVALID_PATTERN' : 'UNSUPPORTED', message, span, {
      hint,
    });
  }

  #checkInput(span: Span): void {
    if (!this.#input.updating) return;
    this.#refuse(
      'MATCH_RECOGNIZE over an updating result is not supported',
      span,
      'match the rows of a table, or of a windowed aggregate, which leave once',
      'unsupported',
    );
  }

  #checkPattern(): void {
    const { pattern } = this.#match;
    if (rowsOfPattern(pattern).least === 0)
      this.#refuse(
        'the pattern can match nothing at all',
        pattern.span,
        'let one of its variables be certain: A+ instead of A*',
      );
    if (this.#variables.length > LIMITS.patternVariablesMax)
      this.#refuse(
        `a pattern has at most ${LIMITS.patternVariablesMax} variables`,
        pattern.span,
        'rows of the same kind can share a variable',
      );
    else if (programSize(pattern) > LIMITS.patternProgramMax)
      this.#refuse(
        `the pattern, with its repetitions written out, is longer than ${LIMITS.patternProgramMax} steps`,
        pattern.span,
        'use + or *, and count in DEFINE: count(A.*) <= 1000',
      );
  }

  #partition(): Expr[] {
    const binder = new ExpressionBinder(this.#context('PARTITION BY'));
    return this.#match.partitionBy.flatMap((expression) => {
      const bound = binder.bind(expression);
      if (bound === POISON) return [];
      if (bound.tag === 'column' && bound.type.tag !== 'interval') return [bound];
      this.#refuse(
        'PARTITION BY of MATCH_RECOGNIZE takes columns that are no intervals',
        expression.span,
        'compute it in a subquery: FROM (SELECT *, … AS k FROM t) MATCH_RECOGNIZE (PARTITION BY k …)',
        'unsupported',
      );
      return [];
    });
  }

  /** The keys behind the event time. */
  #order(): SortKey[] {
    const { orderBy, span } = this.#match;
    const binder = new ExpressionBinder(this.#context('ORDER BY'));
    const keys = bindSortKeys(orderBy, binder);
    if (keys === null || this.#input.updating) return [];
    const [first, ...others] = keys;
    const exact = first !== undefined && eventOrderOf(first.expr, this.#input) === 'exact';
    if (first === undefined || !exact || first.descending) {
      this.#refuse(
        'rows are matched in the order of their event time',
        orderBy[0]?.span ?? span,
        'let ORDER BY begin with the column of WATERMARK FOR, or with row_time(), ascending',
      );
      return [];
    }
    warnOfArrival(this.#input, orderBy[0]?.span ?? span, this.#diagnostics);
    const strange = others.findIndex(
      ({ expr }) => expr.tag !== 'column' || expr.type.tag === 'interval',
    );
    if (strange >= 0)
      this.#refuse(
        'the keys behind the event time must be columns that are no intervals',
        orderBy[strange + 1]?.span ?? span,
        'compute it in a subquery, and order by its column',
        'unsupported',
      );
    return others;
  }

  #context(place: string): ReturnType<typeof tableContext> {
    const context = tableContext(this.#scope, place, this.#diagnostics);
    return { ...context, rowTime: this.#input.eventTime };
  }

  #within(): number | null {
    const { within, pattern } = this.#match;
    if (within === null) {
      const { least, most } = rowsOfPattern(pattern);
      if (least !== most)
        this.#refuse(
          'nothing bounds how long a match may take, so its rows would be kept for ever',
          pattern.span,
          "add WITHIN behind the pattern: PATTERN (…) WITHIN INTERVAL '1 hour'",
        );
      return null;
    }
    const bound = new ExpressionBinder(this.#context('WITHIN')).bind(within);
    if (bound === POISON) return null;
    const literal =
      bound.tag === 'literal' && bound.type.tag === 'interval' && typeof bound.value === 'string'
        ? fixedMicros(intervalOfLiteral(bound.value))
        : null;
    if (literal !== null && literal > 0n && literal <= BigInt(Number.MAX_SAFE_INTEGER))
      return Number(literal);
    this.#refuse(
      'WITHIN takes a length of time above zero',
      within.span,
      "write it in days or less, as months differ: WITHIN INTERVAL '30 days'",
    );
    return null;
  }

  #variable(name: Identifier, where: string): number | null {
    const at = this.#variables.indexOf(name.name);
    if (at >= 0) return at;
    this.#diagnostics.error(
      'INVALID_PATTERN',
      `the variable "${name.text}" of ${where} is not in the pattern`,
      name.span,
      withSuggestion(
        nearestName(name.name, this.#variables),
        `the variables are ${this.#variables.map(quoteName).join(', ')}`,
      ),
    );
    return null;
  }

  #skip(): MatchSkip {
    const { skip, pattern } = this.#match;
    if (skip === null) return { tag: 'past_last' };
    if (!('variable' in skip)) return { tag: skip.tag };
    const variable = this.#variable(skip.variable, 'AFTER MATCH SKIP');
    if (variable === null) return { tag: 'past_last' };
    const firsts = firstVariables(pattern);
    if (skip.tag === 'to_first' && firsts.size === 1 && firsts.has(skip.variable.name))
      this.#refuse(
        `every match begins with "${skip.variable.text}", so matching would stay where it is`,
        skip.span,
        'use SKIP TO NEXT ROW, or another variable',
      );
    return { tag: skip.tag, variable };
  }

  get #rows(): MatchRows {
    return {
      scope: this.#scope,
      schema: this.#input.schema,
      variables: this.#variables,
      diagnostics: this.#diagnostics,
    };
  }

  #conditions(): (MatchExpr | null)[] {
    const conditions: (MatchExpr | null)[] = this.#variables.map(() => null);
    const defined = new Set<number>();
    for (const { name, condition } of this.#match.define) {
      const variable = this.#variable(name, 'DEFINE');
      if (variable === null) continue;
      if (defined.has(variable))
        this.#diagnostics.error(
          'DUPLICATE_NAME',
          `the variable "${name.text}" is defined twice`,
          name.span,
          { hint: 'join its conditions by AND' },
        );
      defined.add(variable);
      conditions[variable] = new MatchBinder(this.#rows, variable).bind(condition, true);
    }
    return conditions;
  }

  #measures(): BoundMeasure[] {
    const { measures } = this.#match;
    const certain = this.#certain();
    const names = new Set<string>();
    return measures.flatMap(({ expression, name }) => {
      if (names.has(name.name))
        this.#diagnostics.error(
          'DUPLICATE_NAME',
          `two measures have the name "${name.text}"`,
          name.span,
        );
      names.add(name.name);
      const expr = new MatchBinder(this.#rows, null).bind(expression, false);
      if (expr === null) return [];
      const nullable = mayBeNull(expr, this.#input.schema, certain);
      return [{ expr, field: { name: name.name, type: expr.expr.type, nullable } }];
    });
  }
}

const callsUser = (expr: Expr): boolean =>
  (expr.tag === 'call' && isUserCall(expr.fn)) || childrenOf(expr).some(callsUser);

/** Each column that a measure is computed from, as a measure of its own. */
const operandsOf = ({ navigations, aggregates }: MatchExpr): MatchExpr[] => [
  ...navigations.map((navigation): MatchExpr => ({
    navigations: [navigation],
    aggregates: [],
    expr: { tag: 'column', index: 0, type: navigation.type },
  })),
  ...aggregates.map((aggregate): MatchExpr => ({
    navigations: [],
    aggregates: [aggregate],
    expr: { tag: 'column', index: 0, type: aggregate.call.type },
  })),
];

/** The measures over matches that give, for some of them, only what they are computed from. */
function overMatches(match: MatchNode, measures: readonly BoundMeasure[]): PlanNode {
  const width = match.partitionBy.length;
  let place = width;
  const exprs = measures.map(({ expr, field }): Expr => {
    const from = place;
    if (!callsUser(expr.expr)) {
      place++;
      return { tag: 'column', index: from, type: field.type };
    }
    place += expr.navigations.length + expr.aggregates.length;
    return mapColumns(expr.expr, (column) => ({ ...column, index: from + column.index }));
  });
  const keys = match.partitionBy.map((_, at) => columnExpr(match.schema, at));
  const names = match.schema.slice(0, width).map(({ name }) => name);
  return makeProject(
    match,
    [...keys, ...exprs],
    [...names, ...measures.map(({ field }) => field.name)],
  );
}
