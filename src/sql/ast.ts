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
