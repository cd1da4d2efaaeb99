/** The functions of the user's own that a program may call, known wherever its findings go. */
import type { Span } from '../base/errors.ts';
import type { UserFunction } from '../expr/user-function.ts';
import type { Diagnostics } from './diagnostics.ts';

export type DeclaredFunction = {
  fn: UserFunction;
  /** Where it is first called; null: nowhere. */
  called: Span | null;
  /** The program did not declare it, and may do so. */
  outside: boolean;
};

const DECLARED = new WeakMap<Diagnostics, Map<string, DeclaredFunction>>();

/** By name. */
export function functionsOf(diagnostics: Diagnostics): Map<string, DeclaredFunction> {
  let functions = DECLARED.get(diagnostics);
  if (functions === undefined) {
    functions = new Map();
    DECLARED.set(diagnostics, functions);
  }
  return functions;
}
