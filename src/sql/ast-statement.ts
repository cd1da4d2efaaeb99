/** Statements as syntax. */
import type { Span } from '../base/errors.ts';
import type { Identifier } from './ast.ts';
import type {
  BooleanLiteral,
  Expression,
  IntervalLiteral,
  NumberLiteral,
  StringLiteral,
} from './ast-expression.ts';
import type { Query } from './ast-query.ts';
import type { TypeName } from './ast-type.ts';

export type Program = { readonly statements: readonly Statement[] };

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
  readonly kind: 'scalar' | 'aggregate';
  readonly waits: boolean;
  readonly name: Identifier;
  readonly parameters: readonly FunctionParameter[];
  readonly returns: FunctionResult;
  readonly language: Identifier;
  readonly volatility: 'immutable' | 'stable' | 'volatile' | null;
  /** Whether it is called for arguments that are NULL; null: not said. */
  readonly nullInput: 'called' | 'null' | null;
  readonly options: readonly TableOption[];
  readonly body: StringLiteral;
  readonly span: Span;
};

/** A value, or the rows of RETURNS TABLE. */
export type FunctionResult =
  | { readonly tag: 'returns_value'; readonly type: TypeName }
  | { readonly tag: 'returns_table'; readonly columns: readonly FunctionParameter[] };

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
