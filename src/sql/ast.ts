/**
 * The syntax tree of a program: what was written, with where, and nothing about what it means.
 *
 * Every node is plain readonly data with a literal `tag` (where it is one of several) and a `span`.
 * The parser has already folded spellings that cannot differ in meaning, so that the binder meets each
 * construct once: `x::T` is a cast, `==` is `=`, `POSITION(a IN b)` is `strpos(b, a)`,
 * `EXTRACT(f FROM x)` is `date_part('f', x)`, `GENERATED ALWAYS AS (metadata('k'))` is `METADATA FROM 'k'`.
 * Parentheses leave no trace except where they change what a dot means (`(s).a` is a field, `s.a` a path).
 */
import type { Span } from '../base/errors.ts';

/** A name as written. `name` is the name to compare by: folded to lower case unless it was quoted. */
export type Identifier = {
  readonly name: string;
  readonly quoted: boolean;
  /** What the author typed, without quotes; for messages and for default column names. */
  readonly text: string;
  readonly span: Span;
};

export type Program = { readonly statements: readonly Statement[] };

// Statements.

export type Statement =
  | CreateTable
  | CreateView
  | CreateFunction
  | Insert
  | QueryStatement
  | SetStatement
  | Explain;

export type CreateTable = {
  readonly tag: 'create_table';
  readonly name: Identifier;
  readonly ifNotExists: boolean;
  readonly temporary: boolean;
  /** Null when the statement has no list at all: the columns are then inferred. */
  readonly columns: readonly ColumnDefinition[] | null;
  readonly constraints: readonly TableConstraint[];
  readonly partitionedBy: readonly Expression[];
  readonly options: readonly TableOption[];
  readonly span: Span;
};

export type ColumnDefinition = {
  readonly name: Identifier;
  readonly type: TypeName;
  readonly notNull: boolean;
  readonly primaryKey: boolean;
  readonly defaultValue: Expression | null;
  readonly generatedAs: Expression | null;
  /** The key of `METADATA FROM 'key'`. */
  readonly metadataFrom: StringLiteral | null;
  readonly span: Span;
};

export type TableConstraint = WatermarkConstraint | PrimaryKeyConstraint;

export type WatermarkConstraint = {
  readonly tag: 'watermark';
  readonly column: Identifier;
  readonly expression: Expression | null;
  readonly span: Span;
};

export type PrimaryKeyConstraint = {
  readonly tag: 'primary_key';
  readonly columns: readonly Identifier[];
  readonly span: Span;
};

/** One `key = value`. The key is its dotted text, lower case unless quoted. */
export type TableOption = {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: OptionValue;
  readonly span: Span;
};

/** A number's text may carry a sign here (`-1`), unlike in an expression. */
export type OptionValue =
  | StringLiteral
  | NumberLiteral
  | BooleanLiteral
  | IntervalLiteral
  | NameOption
  | ArrayOption;

/** A bare word such as `format = json` or `event_time_field = created_at`. */
export type NameOption = { readonly tag: 'name'; readonly name: Identifier; readonly span: Span };

export type ArrayOption = {
  readonly tag: 'array_option';
  readonly elements: readonly OptionValue[];
  readonly span: Span;
};

/** `CREATE VIEW v AS q` and `CREATE TABLE t AS q`, which mean the same. */
export type CreateView = {
  readonly tag: 'create_view';
  readonly spelling: 'view' | 'table';
  readonly name: Identifier;
  readonly ifNotExists: boolean;
  /** New names for the query's columns; empty when not given. */
  readonly columns: readonly Identifier[];
  readonly query: Query;
  readonly span: Span;
};

export type CreateFunction = {
  readonly tag: 'create_function';
  readonly name: Identifier;
  readonly parameters: readonly FunctionParameter[];
  readonly returns: TypeName;
  readonly language: Identifier;
  readonly body: StringLiteral;
  readonly span: Span;
};

export type FunctionParameter = {
  readonly name: Identifier;
  readonly type: TypeName;
  readonly span: Span;
};

export type Insert = {
  readonly tag: 'insert';
  readonly table: Identifier;
  /** Empty when not given. */
  readonly columns: readonly Identifier[];
  readonly query: Query;
  readonly span: Span;
};

export type QueryStatement = {
  readonly tag: 'query_statement';
  readonly query: Query;
  readonly span: Span;
};

/** `SET name = value`; the name is its dotted text. */
export type SetStatement = {
  readonly tag: 'set';
  readonly key: string;
  readonly keySpan: Span;
  readonly value: OptionValue;
  readonly span: Span;
};

export type Explain = {
  readonly tag: 'explain';
  readonly mode: 'logical' | 'physical' | null;
  readonly statement: Insert | QueryStatement;
  readonly span: Span;
};

// Queries.

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
  readonly items: readonly SelectItem[];
  /** Comma-separated; empty without FROM. */
  readonly from: readonly TableReference[];
  readonly where: Expression | null;
  /** Expressions, aliases or ordinals (a number literal). */
  readonly groupBy: readonly Expression[];
  readonly having: Expression | null;
  readonly qualify: Expression | null;
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

export type TableReference = NamedTable | DerivedTable | TableFunction | Join;

export type NamedTable = {
  readonly tag: 'table';
  readonly name: Identifier;
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

// Expressions.

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

export type WindowSpecification = {
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

// Types, as written.

export type TypeName = SimpleType | ArrayType | StructType | MapType;

/**
 * `name` is the lower-case words joined by one space: `bigint`, `bigint unsigned`, `double precision`,
 * `character varying`, `timestamp with time zone` (WITHOUT TIME ZONE leaves no trace).
 */
export type SimpleType = {
  readonly tag: 'simple';
  readonly name: string;
  /** Whole numbers in parentheses, such as precision and scale. */
  readonly parameters: readonly number[];
  readonly span: Span;
};

/** `T[]` or `ARRAY<T>`. */
export type ArrayType = { readonly tag: 'array'; readonly element: TypeName; readonly span: Span };

export type StructType = {
  readonly tag: 'struct';
  readonly fields: readonly StructField[];
  readonly span: Span;
};

export type StructField = {
  readonly name: Identifier;
  readonly type: TypeName;
  readonly notNull: boolean;
  readonly span: Span;
};

export type MapType = {
  readonly tag: 'map';
  readonly key: TypeName;
  readonly value: TypeName;
  readonly span: Span;
};
