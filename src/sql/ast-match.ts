/** MATCH_RECOGNIZE as syntax. */
import type { Span } from '../base/errors.ts';
import type { Identifier } from './ast.ts';
import type { Expression } from './ast-expression.ts';
import type { OrderItem, TableAlias, TableReference } from './ast-query.ts';

export type MatchRecognize = {
  readonly tag: 'match';
  /** The rows that are matched. */
  readonly input: TableReference;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly OrderItem[];
  readonly measures: readonly Measure[];
  /** Where the next match may begin; null: behind the last row, as no AFTER MATCH says. */
  readonly skip: MatchSkip | null;
  readonly pattern: Pattern;
  readonly within: Expression | null;
  readonly define: readonly MatchDefinition[];
  readonly alias: TableAlias | null;
  readonly span: Span;
};

export type Measure = {
  readonly expression: Expression;
  readonly name: Identifier;
  readonly span: Span;
};

export type MatchDefinition = {
  readonly name: Identifier;
  readonly condition: Expression;
  readonly span: Span;
};

export type MatchSkip =
  | { readonly tag: 'past_last' | 'next_row'; readonly span: Span }
  | {
      readonly tag: 'to_first' | 'to_last';
      readonly variable: Identifier;
      readonly span: Span;
    };

export type Pattern = PatternVariable | PatternGroup | PatternRepeat;

export type PatternVariable = {
  readonly tag: 'variable';
  readonly name: Identifier;
  readonly span: Span;
};

/** Two or more parts, one behind the other or one instead of the other. */
export type PatternGroup = {
  readonly tag: 'sequence' | 'alternation';
  readonly parts: readonly Pattern[];
  readonly span: Span;
};

export type PatternRepeat = {
  readonly tag: 'repeat';
  readonly pattern: Pattern;
  readonly least: number;
  /** Null: without a bound. */
  readonly most: number | null;
  /** As few as possible come first, not as many. */
  readonly reluctant: boolean;
  readonly span: Span;
};
