/** A finding and what of the text lies around it: its tokens, the table, the option and the SELECT it is in. */
import type { ErrorReport, Position, Span } from '../../base/errors.ts';
import type { Select } from '../../sql/ast-query.ts';
import type { CreateTable, Program, TableOption } from '../../sql/ast-statement.ts';
import type { Token } from '../../sql/lexer.ts';
import { Places } from '../../sql/places.ts';
import type { ConnectorDeclaration } from '../declaration.ts';
import { covers, isBefore, samePlace } from './spans.ts';
import { eachNode } from './tree.ts';

/** What is known of the text besides the finding. */
export type FixContext = {
  text: string;
  tokens: readonly Token[];
  /** Statements that parse, and those of which parts do. */
  program: Program;
  connectors: readonly ConnectorDeclaration[];
};

export class Finding {
  readonly context: FixContext;
  readonly report: ErrorReport;
  readonly span: Span;
  readonly #places: Places;

  constructor(context: FixContext, report: ErrorReport, span: Span) {
    this.context = context;
    this.report = report;
    this.span = span;
    this.#places = new Places(context.text);
  }

  written(span: Span): string {
    return this.#places.textOf(span);
  }

  /** The first token that does not end before the place. */
  tokenIndex(place: Position): number {
    const { tokens } = this.context;
    let low = 0;
    let high = tokens.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(place, (tokens[middle] as Token).span.end)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  token(index: number): Token | undefined {
    return this.context.tokens[index];
  }

  table(name: string | undefined): CreateTable | null {
    const found = this.context.program.statements.find(
      (statement): statement is CreateTable =>
        statement.tag === 'create_table' &&
        (statement.name.name === name || statement.name.text === name),
    );
    return found ?? null;
  }

  /** The table that the message names, else the one the finding is in. */
  tableMeant(): CreateTable | null {
    for (const [, name] of this.report.message.matchAll(/"([^"]+)"/g)) {
      const table = this.table(name);
      if (table !== null) return table;
    }
    const around = this.context.program.statements.find(
      (statement): statement is CreateTable =>
        statement.tag === 'create_table' && covers(statement.span, this.span),
    );
    return around ?? null;
  }

  /** The table whose name the finding points at. */
  tableAt(): CreateTable | null {
    const found = this.context.program.statements.find(
      (statement): statement is CreateTable =>
        statement.tag === 'create_table' && samePlace(statement.name.span.start, this.span.start),
    );
    return found ?? null;
  }

  option(): { table: CreateTable; option: TableOption; index: number } | null {
    for (const table of this.context.program.statements) {
      if (table.tag !== 'create_table') continue;
      const index = table.options.findIndex(({ span }) => covers(span, this.span));
      const option = table.options[index];
      if (option !== undefined) return { table, option, index };
    }
    return null;
  }

  /** The innermost SELECT around the finding. */
  select(): Select | null {
    let found: Select | null = null;
    eachNode(this.context.program, (node) => {
      if (node['tag'] !== 'select') return;
      const select = node as unknown as Select;
      if (covers(select.span, this.span) && (found === null || covers(found.span, select.span)))
        found = select;
    });
    return found;
  }
}
