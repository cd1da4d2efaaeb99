/** Types as written; nothing is resolved here. */
import type { Span } from '../base/errors.ts';
import type { Identifier } from './ast.ts';

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
