/**
 * Tables that are declared outside the program: each the text of a CREATE TABLE, bound where the program names it.
 *
 * A mistake in such a text is told at the name that the program wrote, and says that it is the stored table's; there is no
 * place in the program's text for it. A text that no query names is never read.
 */
import type { ErrorReport, Span } from '../base/errors.ts';
import type { Identifier } from '../sql/ast.ts';
import type { CreateTable } from '../sql/ast-statement.ts';
import { parseProgram } from '../sql/parser.ts';
import type { Diagnostics } from './diagnostics.ts';

/** `definition`: a CREATE TABLE of this name, in lower case. */
export type OutsideTable = { name: string; definition: string };

export class OutsideTables {
  readonly #tables: ReadonlyMap<string, OutsideTable>;
  /** Those that were named. */
  readonly used = new Set<string>();

  constructor(tables: readonly OutsideTable[]) {
    this.#tables = new Map(tables.map((table) => [table.name, table]));
  }

  get names(): string[] {
    return [...this.#tables.keys()];
  }

  /** The declaration as if it stood at `name`; null when there is none, or none that can be read, which is then told. */
  declarationOf(name: Identifier, diagnostics: Diagnostics): CreateTable | 'broken' | null {
    const table = this.#tables.get(name.name);
    if (table === undefined) return null;
    this.used.add(table.name);
    const { program, errors } = parseProgram(table.definition);
    const [statement] = program.statements;
    const [error] = errors;
    // One object for all places, by which findings are told to be the stored table's.
    const place: Span = { ...name.span };
    diagnostics.attribute(place, `the stored table "${table.name}"`);
    if (error !== undefined || statement?.tag !== 'create_table') {
      const message = error?.message ?? 'its definition is no CREATE TABLE';
      diagnostics.error(error?.code ?? 'SYNTAX', message, place, extrasOf(error));
      return 'broken';
    }
    return movedTo(statement, place) as CreateTable;
  }
}

const extrasOf = (error: ErrorReport | undefined) =>
  error?.hint === undefined ? {} : { hint: error.hint };

/** The same syntax with every place replaced. */
function movedTo(syntax: unknown, place: Span): unknown {
  if (Array.isArray(syntax)) return syntax.map((part) => movedTo(part, place));
  if (typeof syntax !== 'object' || syntax === null) return syntax;
  return Object.fromEntries(
    Object.entries(syntax).map(([key, value]) => [
      key,
      /^span$|Span$/.test(key) ? place : movedTo(value, place),
    ]),
  );
}
