/** Expressions as syntax. */
import type { Span } from '../base/errors.ts';
import type { Identifier } from './ast.ts';
import type { OrderItem, Query } from './ast-query.ts';
import type { SimpleType, TypeName } from './ast-type.ts';

export type Expression =
  | NumberLiteral
  | StringLiteral
  | BooleanLiteral
  | NullLiteral
  | BytesLiteral
  | TypedLiteral
  | IntervalLiteral
  | PathExpression
  | FieldExpression
  | SubscriptExpression
  | SliceExpression
  | UnaryExpression
  | BinaryExpression
  | IsExpression
  | IsDistinctExpression
  | BetweenExpression
  | InListExpression
  | InQueryExpression
  | LikeExpression
  | CaseExpression
  | CastExpression
  | AtTimeZoneExpression
  | CallExpression
  | ArrayExpression
  | RowExpression
  | ExistsExpression
  | SubqueryExpression;

/** Unsigned; kept as text so that no digit is lost. Digits with optional point and exponent. */
export type NumberLiteral = { readonly tag: 'number'; readonly text: string; readonly span: Span };
export type StringLiteral = { readonly tag: 'string'; readonly value: string; readonly span: Span };
export type BooleanLiteral = {
  readonly tag: 'boolean';
  readonly value: boolean;
  readonly span: Span;
};
export type NullLiteral = { readonly tag: 'null'; readonly span: Span };
/** `X'0aff'`: an even number of lower-case hex digits. */
export type BytesLiteral = { readonly tag: 'bytes'; readonly hex: string; readonly span: Span };

/** `TIMESTAMP '…'`, `DATE '…'`, `TIME '…'`: a type name before a string. */
export type TypedLiteral = {
  readonly tag: 'typed_literal';
  readonly type: SimpleType;
  readonly text: string;
  readonly span: Span;
};

/** `INTERVAL '5' MINUTE` (unit `minute`) or `INTERVAL '1 hour 30 minutes'` (unit null). */
export type IntervalLiteral = {
  readonly tag: 'interval';
  readonly text: string;
  readonly unit: IntervalUnit | null;
  readonly span: Span;
};

export type IntervalUnit =
  | 'year'
  | 'quarter'
  | 'month'
  | 'week'
  | 'day'
  | 'hour'
  | 'minute'
  | 'second'
  | 'millisecond'
  | 'microsecond'
  | 'nanosecond';

/** `a`, `t.a`, `t.s.f`: which part is the table is the binder's to find out. Never empty. */
export type PathExpression = {
  readonly tag: 'path';
  readonly parts: readonly Identifier[];
  readonly span: Span;
};

/** `(base).name`. */
export type FieldExpression = {
  readonly tag: 'field';
  readonly base: Expression;
  readonly name: Identifier;
  readonly span: Span;
};

/** `base[index]`: list element (from 1), map value, or struct field when the index is a string literal. */
export type SubscriptExpression = {
  readonly tag: 'subscript';
  readonly base: Expression;
  readonly index: Expression;
  readonly span: Span;
};

/** `base[from:to]`, both ends optional. */
export type SliceExpression = {
  readonly tag: 'slice';
  readonly base: Expression;
  readonly from: Expression | null;
  readonly to: Expression | null;
  readonly span: Span;
};

export type UnaryOperator = '-' | '+' | '~' | 'not';

export type UnaryExpression = {
  readonly tag: 'unary';
  readonly operator: UnaryOperator;
  readonly operand: Expression;
  readonly span: Span;
};

export type BinaryOperator =
  | 'or'
  | 'and'
  | '='
  | '<>'
  | '<'
  | '<='
  | '>'
  | '>='
  | '~'
  | '~*'
  | '!~'
  | '!~*'
  | '||'
  | '->'
  | '->>'
  | '#>'
  | '#>>'
  | '@>'
  | '<@'
  | '?'
  | '&'
  | '|'
  | '#'
  | '<<'
  | '>>'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '^';

export type BinaryExpression = {
  readonly tag: 'binary';
  readonly operator: BinaryOperator;
  readonly operatorSpan: Span;
  readonly left: Expression;
  readonly right: Expression;
  readonly span: Span;
};

export type IsExpression = {
  readonly tag: 'is';
  readonly operand: Expression;
  readonly test: 'null' | 'true' | 'false' | 'unknown';
  readonly negated: boolean;
  readonly span: Span;
};

export type IsDistinctExpression = {
  readonly tag: 'is_distinct';
  readonly left: Expression;
  readonly right: Expression;
  /** True for IS NOT DISTINCT FROM. */
  readonly negated: boolean;
  readonly span: Span;
};

export type BetweenExpression = {
  readonly tag: 'between';
  readonly operand: Expression;
  readonly low: Expression;
  readonly high: Expression;
  readonly negated: boolean;
  readonly span: Span;
};

export type InListExpression = {
  readonly tag: 'in_list';
  readonly operand: Expression;
  readonly items: readonly Expression[];
  readonly negated: boolean;
  readonly span: Span;
};

export type InQueryExpression = {
  readonly tag: 'in_query';
  readonly operand: Expression;
  readonly query: Query;
  readonly negated: boolean;
  readonly span: Span;
};

export type LikeExpression = {
  readonly tag: 'like';
  readonly kind: 'like' | 'ilike' | 'similar';
  readonly operand: Expression;
  readonly pattern: Expression;
  readonly escape: StringLiteral | null;
  readonly negated: boolean;
  readonly span: Span;
};

export type CaseExpression = {
  readonly tag: 'case';
  readonly operand: Expression | null;
  readonly branches: readonly CaseBranch[];
  readonly otherwise: Expression | null;
  readonly span: Span;
};

export type CaseBranch = {
  readonly when: Expression;
  readonly then: Expression;
  readonly span: Span;
};

/** CAST, `::` and, with `safe`, TRY_CAST (null instead of an error). */
export type CastExpression = {
  readonly tag: 'cast';
  readonly operand: Expression;
  readonly type: TypeName;
  readonly safe: boolean;
  readonly span: Span;
};

export type AtTimeZoneExpression = {
  readonly tag: 'at_time_zone';
  readonly operand: Expression;
  readonly zone: Expression;
  readonly span: Span;
};

export type CallExpression = {
  readonly tag: 'call';
  readonly name: Identifier;
  /** True for `count(*)`; the arguments are then empty. */
  readonly star: boolean;
  readonly distinct: boolean;
  readonly args: readonly CallArgument[];
  /** ORDER BY inside the parentheses. */
  readonly orderBy: readonly OrderItem[];
  readonly withinGroup: readonly OrderItem[];
  readonly filter: Expression | null;
  readonly nullTreatment: 'respect' | 'ignore' | null;
  readonly over: WindowSpecification | null;
  readonly span: Span;
};

/** `value` or `name => value`. */
export type CallArgument = {
  readonly name: Identifier | null;
  readonly value: Expression;
  readonly span: Span;
};

/** `OVER w` is a specification that has nothing but the name of its base. */
export type WindowSpecification = {
  /** The window of WINDOW that this one goes on from. */
  readonly base: Identifier | null;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly OrderItem[];
  readonly frame: WindowFrame | null;
  readonly span: Span;
};

/** The end is CURRENT ROW when the text gave a start only. */
export type WindowFrame = {
  readonly unit: 'rows' | 'range' | 'groups';
  readonly start: FrameBound;
  readonly end: FrameBound;
  readonly span: Span;
};

export type FrameBound =
  | { readonly tag: 'unbounded_preceding'; readonly span: Span }
  | { readonly tag: 'preceding'; readonly offset: Expression; readonly span: Span }
  | { readonly tag: 'current_row'; readonly span: Span }
  | { readonly tag: 'following'; readonly offset: Expression; readonly span: Span }
  | { readonly tag: 'unbounded_following'; readonly span: Span };

/** `[a, b]` or `ARRAY[a, b]`. */
export type ArrayExpression = {
  readonly tag: 'array';
  readonly elements: readonly Expression[];
  readonly span: Span;
};

/** `ROW(a, b)`, `STRUCT(a AS x, b)` or `(a, b)`. */
export type RowExpression = {
  readonly tag: 'row';
  readonly fields: readonly RowField[];
  readonly span: Span;
};

export type RowField = {
  readonly name: Identifier | null;
  readonly value: Expression;
  readonly span: Span;
};

export type ExistsExpression = {
  readonly tag: 'exists';
  readonly query: Query;
  readonly span: Span;
};

/** A query in parentheses used as one value. */
export type SubqueryExpression = {
  readonly tag: 'subquery';
  readonly query: Query;
  readonly span: Span;
};
