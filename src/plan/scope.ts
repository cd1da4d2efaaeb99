/**
 * Which names an expression may use, and what a dotted path means.
 *
 * A path is tried as table.column, then as column, each followed by struct fields. A name that several
 * relations have is ambiguous; it is never resolved by order.
 */
import type { SqlType } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { Identifier } from '../sql/ast.ts';
import type { PathExpression } from '../sql/ast-expression.ts';
import { type Diagnostics, withSuggestion } from './diagnostics.ts';
import type { PlanNode, Window } from './logical.ts';
import { nameText, nearestName, quoteName } from './name-text.ts';

export type ScopeColumn = {
  /** Name of the relation; null for a subquery without alias. */
  qualifier: string | null;
  name: string;
  /** Position in the input of the expression. */
  index: number;
  type: SqlType;
  nullable: boolean;
  window: Window | null;
  /** Its definition was refused: using it is no further error. */
  broken: boolean;
  /** Merged with a column of the other side by USING or NATURAL: found by `table.column` only. */
  merged?: boolean;
};

export type Scope = readonly ScopeColumn[];

/** What is known of a query, a view or a table as others see it. */
export type BoundQuery = {
  /** Null after an error. */
  node: PlanNode | null;
  columns: readonly QueryColumn[];
  /** Not even its columns are known: any name may be one. */
  open: boolean;
};

export type QueryColumn = Omit<ScopeColumn, 'qualifier' | 'index' | 'merged'>;

/** Stands for a query that was refused as a whole. */
export const UNKNOWN_QUERY: BoundQuery = { node: null, columns: [], open: true };

export function queryOf(node: PlanNode): BoundQuery {
  const columns = node.schema.map(({ name, type, nullable }, index) => ({
    name,
    type,
    nullable,
    window: node.windows[index] ?? null,
    broken: false,
  }));
  return { node, columns, open: false };
}

export const scopeOf = (qualifier: string | null, query: BoundQuery): Scope =>
  query.columns.map((column, index) => ({ ...column, qualifier, index }));

export type PathResolution =
  | { tag: 'found'; column: ScopeColumn; fields: readonly Identifier[] }
  | { tag: 'ambiguous'; name: string; qualifiers: readonly string[] }
  | { tag: 'unknown' };

/** What the leading parts of `path` name; the remaining parts are struct fields. */
export function resolvePath(parts: readonly Identifier[], scope: Scope): PathResolution {
  const [first, second] = parts;
  if (first === undefined) return { tag: 'unknown' };
  if (second !== undefined) {
    const qualified = scope.filter(
      (column) => column.qualifier === first.name && column.name === second.name,
    );
    if (qualified.length === 1)
      return { tag: 'found', column: qualified[0] as ScopeColumn, fields: parts.slice(2) };
    if (qualified.length > 1)
      return { tag: 'ambiguous', name: `${first.name}.${second.name}`, qualifiers: [] };
  }
  const plain = scope.filter((column) => column.name === first.name && column.merged !== true);
  if (plain.length === 1)
    return { tag: 'found', column: plain[0] as ScopeColumn, fields: parts.slice(1) };
  if (plain.length === 0) return { tag: 'unknown' };
  const qualifiers = plain.flatMap((column) =>
    column.qualifier === null ? [] : [column.qualifier],
  );
  return { tag: 'ambiguous', name: first.name, qualifiers: [...new Set(qualifiers)] };
}

/** The expression for a column and the struct fields after it; null after an error was reported. */
export function readPath(
  base: Expr,
  fields: readonly Identifier[],
  diagnostics: Diagnostics,
): Expr | null {
  let expr = base;
  for (const name of fields) {
    const type = expr.type;
    if (type.tag !== 'struct') {
      diagnostics.error(
        'UNKNOWN_COLUMN',
        `"${name.text}" is read from a value that has no fields`,
        name.span,
      );
      return null;
    }
    const index = type.fields.findIndex((field) => field.name === name.name);
    const field = type.fields[index];
    if (field === undefined) {
      const names = type.fields.map((candidate) => candidate.name);
      diagnostics.error(
        'UNKNOWN_COLUMN',
        `unknown field "${name.text}"`,
        name.span,
        withSuggestion(
          nearestName(name.name, names, quoteName),
          `the fields are ${names.map(quoteName).join(', ')}`,
        ),
      );
      return null;
    }
    expr = { tag: 'field', input: expr, index, type: field.type };
  }
  return expr;
}

export function reportUnresolved(
  path: PathExpression,
  resolution: PathResolution,
  scope: Scope,
  others: Iterable<string>,
  diagnostics: Diagnostics,
): void {
  const written = path.parts.map((part) => part.text).join('.');
  if (resolution.tag === 'ambiguous') {
    const [qualifier] = resolution.qualifiers;
    const hint =
      qualifier === undefined
        ? 'give the columns of the inner query different names'
        : 'say which table is meant';
    diagnostics.error(
      'AMBIGUOUS_COLUMN',
      `column "${written}" is ambiguous`,
      path.span,
      withSuggestion(
        qualifier === undefined ? null : `${nameText(qualifier)}.${nameText(resolution.name)}`,
        hint,
      ),
    );
    return;
  }
  const [first, second] = path.parts;
  const relation = scope.filter((column) => column.qualifier === first?.name);
  if (second !== undefined && relation.length > 0) {
    const best = nearestName(
      second.name,
      relation.map((column) => column.name),
    );
    diagnostics.error(
      'UNKNOWN_COLUMN',
      `table "${first?.text}" has no column "${second.text}"`,
      second.span,
      withSuggestion(best, columnsHint(relation)),
    );
    return;
  }
  const folded = first?.name ?? '';
  const candidates = [...new Set([...scope.map((column) => column.name), ...others])];
  const sameButCase = candidates.find((name) => name.toLowerCase() === folded.toLowerCase());
  const best = sameButCase === undefined ? nearestName(folded, candidates) : nameText(sameButCase);
  diagnostics.error(
    'UNKNOWN_COLUMN',
    `unknown column "${written}"`,
    first?.span ?? path.span,
    withSuggestion(
      best,
      folded === 'window'
        ? 'give the window its name in the SELECT list: tumble(…) AS window'
        : columnsHint(scope),
    ),
  );
}

function columnsHint(scope: Scope): string {
  const names = [...new Set(scope.map((column) => quoteName(column.name)))];
  if (names.length === 0) return 'no columns can be used here';
  const shown = names.slice(0, 12).join(', ');
  return names.length > 12
    ? `the columns are ${shown} and ${names.length - 12} more`
    : `the columns are ${shown}`;
}
