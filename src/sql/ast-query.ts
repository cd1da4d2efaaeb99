/** Queries as syntax. */
import type { Span } from '../base/errors.ts';
import type { Identifier } from './ast.ts';
import type { MatchRecognize } from './ast-match.ts';
import type { CallExpression, Expression, WindowSpecification } from './ast-expression.ts';

/** A set expression with what may stand around it. */
export type Query = {
  readonly tag: 'query';
  readonly with: readonly CommonTable[];
  readonly body: SetExpression;
  readonly orderBy: readonly OrderItem[];
  readonly limit: Expression | null;
  readonly offset: Expression | null;
  readonly span: Span;
};

export type CommonTable = {
  readonly name: Identifier;
  readonly columns: readonly Identifier[];
  readonly query: Query;
  readonly span: Span;
};

export type SetExpression = Select | Values | SetOperation | NestedQuery;

export type SetOperation = {
  readonly tag: 'set_operation';
  readonly operator: 'union' | 'except' | 'intersect';
  readonly all: boolean;
  readonly left: SetExpression;
  readonly right: SetExpression;
  readonly span: Span;
};

/** A parenthesised query that has its own WITH, ORDER BY, LIMIT or OFFSET; otherwise its body stands here. */
export type NestedQuery = { readonly tag: 'nested'; readonly query: Query; readonly span: Span };

export type Values = {
  readonly tag: 'values';
  readonly rows: readonly (readonly Expression[])[];
  readonly span: Span;
};

export type Select = {
  readonly tag: 'select';
  readonly distinct: boolean;
  /** The expressions of DISTINCT ON; empty without it. */
  readonly distinctOn: readonly Expression[];
  readonly items: readonly SelectItem[];
  /** Comma-separated; empty without FROM. */
  readonly from: readonly TableReference[];
  readonly where: Expression | null;
  readonly groupBy: readonly GroupItem[];
  readonly having: Expression | null;
  /** The windows of WINDOW, by name. */
  readonly windows: readonly NamedWindow[];
  readonly qualify: Expression | null;
  readonly span: Span;
};

/** An expression, an alias or an ordinal (a number literal); or several groupings at once. */
export type GroupItem = Expression | GroupingSets;

/** `ROLLUP (…)`, `CUBE (…)`, `GROUPING SETS (…)` and `()`, which is one set without expressions. */
export type GroupingSets = {
  readonly tag: 'grouping_sets';
  readonly kind: 'rollup' | 'cube' | 'sets';
  /** Only sets hold others. */
  readonly elements: readonly GroupingElement[];
  readonly span: Span;
};

/** The expressions of one parenthesis; without one, one expression. */
export type GroupingElement =
  | {
      readonly tag: 'grouping_set';
      readonly expressions: readonly Expression[];
      readonly span: Span;
    }
  | GroupingSets;

export type NamedWindow = {
  readonly name: Identifier;
  readonly window: WindowSpecification;
  readonly span: Span;
};

export type SelectItem = ExpressionItem | WildcardItem;

export type ExpressionItem = {
  readonly tag: 'expression';
  readonly expression: Expression;
  readonly alias: Identifier | null;
  readonly span: Span;
};

/** `*` or `qualifier.*`, with the names of `EXCEPT (…)` or `EXCLUDE (…)`. */
export type WildcardItem = {
  readonly tag: 'wildcard';
  readonly qualifier: Identifier | null;
  readonly exclude: readonly Identifier[];
  readonly span: Span;
};

export type TableReference =
  | NamedTable
  | DerivedTable
  | TableFunction
  | Join
  | MatchRecognize
  | WindowedTable;

/** A table with the windows of its rows: `TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))`. */
export type WindowedTable = {
  readonly tag: 'windowed';
  /** Of the function. */
  readonly name: Identifier;
  readonly table: Identifier;
  /** The column of event time. */
  readonly column: Identifier;
  readonly args: readonly Expression[];
  readonly alias: TableAlias | null;
  readonly span: Span;
};

export type NamedTable = {
  readonly tag: 'table';
  readonly name: Identifier;
  /** `FOR SYSTEM_TIME AS OF …`: the rows as they were then; null without. */
  readonly asOf: Expression | null;
  readonly alias: TableAlias | null;
  readonly span: Span;
};

export type DerivedTable = {
  readonly tag: 'derived';
  readonly lateral: boolean;
  readonly query: Query;
  readonly alias: TableAlias | null;
  readonly span: Span;
};

/** A call in FROM, such as `unnest(xs)` or `TUMBLE(t, …)`. */
export type TableFunction = {
  readonly tag: 'table_function';
  readonly lateral: boolean;
  readonly call: CallExpression;
  readonly withOrdinality: boolean;
  readonly alias: TableAlias | null;
  readonly span: Span;
};

export type TableAlias = {
  readonly name: Identifier;
  readonly columns: readonly Identifier[];
  readonly span: Span;
};

/** `semi` and `anti` keep or drop rows of the left side. */
export type JoinKind = 'inner' | 'left' | 'right' | 'full' | 'cross' | 'semi' | 'anti';

export type Join = {
  readonly tag: 'join';
  readonly kind: JoinKind;
  /** ASOF: each left row meets the last right row that its condition allows. */
  readonly asOf: boolean;
  readonly left: TableReference;
  readonly right: TableReference;
  /** Null for a cross join only. */
  readonly constraint: JoinConstraint | null;
  readonly span: Span;
};

export type JoinConstraint =
  | { readonly tag: 'on'; readonly condition: Expression; readonly span: Span }
  | { readonly tag: 'using'; readonly columns: readonly Identifier[]; readonly span: Span }
  | { readonly tag: 'natural'; readonly span: Span };

export type OrderItem = {
  readonly expression: Expression;
  readonly descending: boolean;
  readonly nulls: 'first' | 'last' | null;
  readonly span: Span;
};
