/**
 * What can be done about a finding with a click: edits of the text, likeliest first.
 *
 * They are proposals, made from the finding and the text: whoever offers them tries them first (`graph/check-sql.ts`).
 * Failure behaviour: a finding nobody knows a fix for has none.
 */
import type { ErrorReport, Position, Span } from '../base/errors.ts';
import { nearest } from '../base/nearest.ts';
import type { BinaryExpression } from '../sql/ast-expression.ts';
import type { Select } from '../sql/ast-query.ts';
import type { CreateTable, Program, TableOption } from '../sql/ast-statement.ts';
import type { Token } from '../sql/lexer.ts';
import { Places, type TextEdit } from '../sql/places.ts';
import type { ConnectorDeclaration } from './declaration.ts';
import { quoteName } from './scope.ts';

export type Fix = { title: string; edits: TextEdit[] };

/** What is known of the text besides the finding. */
export type FixContext = {
  text: string;
  tokens: readonly Token[];
  /** Statements that parse, and those of which parts do. */
  program: Program;
  connectors: readonly ConnectorDeclaration[];
};

/** More help nobody. */
const FIXES_MAX = 4;

export function fixesFor(report: ErrorReport, context: FixContext): Fix[] {
  if (report.span === undefined) return [];
  const finder = new FixFinder(context, report, report.span);
  const seen = new Set<string>();
  return finder
    .find()
    .filter(({ edits }) => {
      const key = JSON.stringify(edits);
      return edits.length > 0 && !seen.has(key) && seen.add(key);
    })
    .slice(0, FIXES_MAX);
}

const at = (position: Position): Span => ({ start: position, end: position });

const isBefore = (left: Position, right: Position): boolean =>
  left.line < right.line || (left.line === right.line && left.column < right.column);

const samePlace = (left: Position, right: Position): boolean =>
  left.line === right.line && left.column === right.column;

const covers = (outer: Span, inner: Span): boolean =>
  !isBefore(inner.start, outer.start) && !isBefore(outer.end, inner.end);

/** What people write for the names of timestamp formats. */
const TIMESTAMP_FORMATS: Readonly<Record<string, RegExp>> = {
  rfc3339: /^(iso.*|rfc.*|string|text|datetime)$/i,
  unix_millis: /(ms|milli)/i,
  unix_micros: /(us|micro)/i,
  unix_nanos: /(ns|nano)/i,
  unix_seconds: /^(unix|epoch|s|sec.*|unix_?s.*|epoch_?s.*|timestamp)$/i,
};

class FixFinder {
  readonly #context: FixContext;
  readonly #report: ErrorReport;
  readonly #span: Span;
  readonly #places: Places;

  constructor(context: FixContext, report: ErrorReport, span: Span) {
    this.#context = context;
    this.#report = report;
    this.#span = span;
    this.#places = new Places(context.text);
  }

  find(): Fix[] {
    switch (this.#report.code) {
      case 'SYNTAX':
      case 'UNTERMINATED':
        return this.#syntax();
      case 'UNKNOWN_COLUMN':
        return [...this.#suggested(), ...this.#stringInstead()];
      case 'UNKNOWN_TABLE':
        return [...this.#suggested(), ...this.#newSink()];
      case 'AMBIGUOUS_COLUMN':
        return [...this.#suggested(), ...this.#qualified()];
      case 'UNKNOWN_OPTION':
        return [...this.#suggested(), ...this.#withoutOption()];
      case 'INVALID_OPTION':
        return [...this.#suggested(), ...this.#choices(), ...this.#withoutOption()];
      case 'MISSING_OPTION':
        return this.#missingOption();
      case 'INVALID_GROUPING':
        return this.#grouping();
      case 'MISSING_WATERMARK':
        return this.#watermark();
      case 'INVALID_WATERMARK':
        return this.#withoutWatermark();
      case 'INVALID_SINK':
        return [...this.#otherRole(), ...this.#changesFormat()];
      case 'NULL_COMPARISON':
        return this.#nullTest();
      case 'NO_QUERY':
        return this.#query();
      default:
        return this.#suggested();
    }
  }

  // Parts of the text.

  #written(span: Span): string {
    return this.#places.textOf(span);
  }

  /** The first token that does not end before the place. */
  #tokenIndex(place: Position): number {
    const { tokens } = this.#context;
    let low = 0;
    let high = tokens.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(place, (tokens[middle] as Token).span.end)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #token(index: number): Token | undefined {
    return this.#context.tokens[index];
  }

  #table(name: string | undefined): CreateTable | null {
    const found = this.#context.program.statements.find(
      (statement): statement is CreateTable =>
        statement.tag === 'create_table' &&
        (statement.name.name === name || statement.name.text === name),
    );
    return found ?? null;
  }

  /** The table that the message names, else the one the finding is in. */
  #tableMeant(): CreateTable | null {
    for (const [, name] of this.#report.message.matchAll(/"([^"]+)"/g)) {
      const table = this.#table(name);
      if (table !== null) return table;
    }
    const around = this.#context.program.statements.find(
      (statement): statement is CreateTable =>
        statement.tag === 'create_table' && covers(statement.span, this.#span),
    );
    return around ?? null;
  }

  // Edits.

  #replace(span: Span, text: string, title?: string): Fix {
    const old = this.#written(span);
    return {
      title: title ?? `Change ${short(old)} to ${short(text)}`,
      edits: [{ span, text }],
    };
  }

  #insert(place: Position, text: string, title: string): Fix {
    return { title, edits: [{ span: at(place), text }] };
  }

  /** One more element behind the last of a list, on a line of its own if that is on one. */
  #behind(last: Span, element: string, of: Span): TextEdit {
    const isBroken = last.start.line > of.start.line;
    const separator = isBroken ? `,\n${' '.repeat(last.start.column - 1)}` : ', ';
    return { span: at(last.end), text: `${separator}${element}` };
  }

  #addDefinition(table: CreateTable, element: string): Fix[] {
    const last = [...(table.columns ?? []), ...table.constraints]
      .map(({ span }) => span)
      .reduce<Span | null>(
        (found, span) => (found === null || isBefore(found.end, span.end) ? span : found),
        null,
      );
    if (last === null) return [];
    return [{ title: `Add ${short(element)}`, edits: [this.#behind(last, element, table.span)] }];
  }

  #addOption(table: CreateTable, option: string): Fix[] {
    const title = `Add ${short(option)}`;
    const last = table.options.at(-1);
    if (last === undefined) return [this.#insert(table.span.end, ` WITH (${option})`, title)];
    return [{ title, edits: [this.#behind(last.span, option, table.span)] }];
  }

  // Fixes.

  /** The nearest right spelling in the place of what was written. */
  #suggested(): Fix[] {
    const { suggestion } = this.#report;
    if (suggestion === undefined) return [];
    const token = this.#token(this.#tokenIndex(this.#span.start));
    const isString =
      token?.kind === 'string' &&
      samePlace(token.span.start, this.#span.start) &&
      samePlace(token.span.end, this.#span.end);
    const isQuoted = /^['"]/.test(suggestion);
    return [this.#replace(this.#span, isString && !isQuoted ? `'${suggestion}'` : suggestion)];
  }

  #syntax(): Fix[] {
    const { message, suggestion, hint } = this.#report;
    const index = this.#tokenIndex(this.#span.start);
    const previous = this.#token(index - 1);
    if (this.#report.code === 'UNTERMINATED') return this.#closed();
    if (message.startsWith('unexpected character')) return this.#straightQuotes();
    if (suggestion === ';' && previous !== undefined)
      return [this.#insert(previous.span.end, ';', 'Add ;')];
    if (suggestion !== undefined) return this.#suggested();
    if (previous === undefined) return [];
    if (previous.kind === 'symbol' && previous.text === ',')
      return [{ title: 'Remove the comma', edits: [{ span: previous.span, text: '' }] }];
    if (hint?.startsWith('put a comma') === true)
      return [this.#insert(previous.span.end, ',', 'Add a comma')];
    const closing = /^expected "([)\]>])"/.exec(message)?.[1];
    return closing === undefined
      ? []
      : [this.#insert(previous.span.end, closing, `Add ${closing}`)];
  }

  /** What was opened is closed at the end of its line, a comment at the end of the text. */
  #closed(): Fix[] {
    const closing = /^close it with (.+)$/.exec(this.#report.hint ?? '')?.[1];
    if (closing === undefined) return [];
    const { text } = this.#context;
    const { line } = this.#span.start;
    const lines = text.split('\n');
    const isLong = closing === '*/' || closing.startsWith('$');
    const target = isLong ? lines.length : line;
    const content = (lines[target - 1] ?? '').replace(/\s*[;\r]?\s*$/, '');
    const column = Array.from(isLong ? (lines[target - 1] ?? '') : content).length + 1;
    return [this.#insert({ line: target, column }, closing, `Close it with ${closing}`)];
  }

  #straightQuotes(): Fix[] {
    const edits: TextEdit[] = [];
    this.#context.text.split('\n').forEach((content, index) => {
      Array.from(content).forEach((char, column) => {
        const straight = '\u2018\u2019'.includes(char)
          ? "'"
          : '\u201C\u201D'.includes(char)
            ? '"'
            : null;
        if (straight === null) return;
        const start = { line: index + 1, column: column + 1 };
        const end = { line: index + 1, column: column + 2 };
        edits.push({ span: { start, end }, text: straight });
      });
    });
    return [{ title: 'Use straight quotes', edits }];
  }

  /** `"abc"` is a name, and was meant as a string. */
  #stringInstead(): Fix[] {
    const token = this.#token(this.#tokenIndex(this.#span.start));
    if (token?.kind !== 'quoted' || !samePlace(token.span.start, this.#span.start)) return [];
    const text = `'${token.text.replaceAll("'", "''")}'`;
    return [this.#replace(token.span, text, `Write it as the string ${short(text)}`)];
  }

  #newSink(): Fix[] {
    const statement = this.#context.program.statements.find(
      (each) => each.tag === 'insert' && samePlace(each.table.span.start, this.#span.start),
    );
    if (statement?.tag !== 'insert') return [];
    const { text, quoted, name } = statement.table;
    const written = quoted ? quoteName(name) : text;
    const options = [
      [
        'r2',
        `connector = 'r2', path = '${name.replaceAll("'", '')}', format = 'json', type = 'sink'`,
      ],
      ['stdout', "connector = 'stdout'"],
    ] as const;
    return options.map(([connector, given]) =>
      this.#insert(
        statement.span.start,
        `CREATE TABLE ${written} WITH (${given});\n`,
        `Create ${written} as a sink of ${connector}`,
      ),
    );
  }

  #qualified(): Fix[] {
    const select = this.#select();
    const written = this.#written(this.#span);
    if (select === null || written.includes('.')) return [];
    const names: string[] = [];
    const visit = (reference: Select['from'][number]): void => {
      if (reference.tag === 'join') {
        visit(reference.left);
        visit(reference.right);
      } else if (reference.alias !== null) names.push(reference.alias.name.text);
      else if (reference.tag === 'table') names.push(reference.name.text);
    };
    select.from.forEach(visit);
    return names.map((name) => this.#replace(this.#span, `${quoteName(name)}.${written}`));
  }

  #option(): { table: CreateTable; option: TableOption; index: number } | null {
    for (const table of this.#context.program.statements) {
      if (table.tag !== 'create_table') continue;
      const index = table.options.findIndex(({ span }) => covers(span, this.#span));
      const option = table.options[index];
      if (option !== undefined) return { table, option, index };
    }
    return null;
  }

  #withoutOption(): Fix[] {
    const found = this.#option();
    if (found === null || found.table.options.length < 2) return [];
    const { table, option, index } = found;
    const title = `Remove the option ${option.key}`;
    const next = table.options[index + 1];
    const previous = table.options[index - 1];
    const span =
      next !== undefined
        ? { start: option.span.start, end: next.span.start }
        : { start: previous?.span.end ?? option.span.start, end: option.span.end };
    return [{ title, edits: [{ span, text: '' }] }];
  }

  /** The values of a choice, those first that come near what was written. */
  #choices(): Fix[] {
    if (!this.#report.message.includes(' must be one of ')) return [];
    const [, list = ''] = this.#report.message.split(' must be one of ');
    const choices = [...list.matchAll(/'([^']+)'/g)].map((match) => match[1] as string);
    const written = this.#written(this.#span).replaceAll(/['"]/g, '');
    const meant = choices.filter((choice) => TIMESTAMP_FORMATS[choice]?.test(written) === true);
    return [...meant, ...choices].map((choice) => this.#replace(this.#span, `'${choice}'`));
  }

  #missingOption(): Fix[] {
    const { message } = this.#report;
    const table = this.#tableMeant() ?? this.#tableAt();
    if (table === null) return [];
    if (message.includes('has no PRIMARY KEY')) {
      const columns = table.columns ?? [];
      const key = columns.find(({ name }) => /(^|_)id$/.test(name.name)) ?? columns[0];
      if (key === undefined) return [];
      return this.#addDefinition(table, `PRIMARY KEY (${this.#written(key.name.span)})`);
    }
    const name = /^option "([^"]+)" is missing/.exec(message)?.[1];
    if (name === undefined) return this.#connector(table);
    const near = this.#mistypedKey(table, name);
    const value = this.#valueFor(table, name);
    return [...near, ...(value === null ? [] : this.#addOption(table, `${name} = ${value}`))];
  }

  /** The table whose name the finding points at. */
  #tableAt(): CreateTable | null {
    const found = this.#context.program.statements.find(
      (statement): statement is CreateTable =>
        statement.tag === 'create_table' && samePlace(statement.name.span.start, this.#span.start),
    );
    return found ?? null;
  }

  #mistypedKey(table: CreateTable, name: string): Fix[] {
    const key = nearest(
      name,
      table.options.map((option) => option.key),
    );
    const option = table.options.find((each) => each.key === key);
    return option === undefined ? [] : [this.#replace(option.keySpan, name)];
  }

  #connector(table: CreateTable): Fix[] {
    const isWritten = this.#context.program.statements.some(
      (statement) => statement.tag === 'insert' && statement.table.name === table.name.name,
    );
    const options = isWritten
      ? ["connector = 'stdout'"]
      : ["connector = 'http', format = 'json', type = 'source'", "connector = 'http'"];
    return [
      ...this.#mistypedKey(table, 'connector'),
      ...options.flatMap((option) => this.#addOption(table, option)),
    ];
  }

  /** A value that is right in kind; null: none can be guessed. */
  #valueFor(table: CreateTable, option: string): string | null {
    const written = table.options.find(({ key }) => key === 'connector')?.value;
    const name = written?.tag === 'string' ? written.value : null;
    const connector = this.#context.connectors.find((each) => each.name === name);
    const declared = connector?.options.find((each) => each.name === option);
    switch (declared?.type) {
      case 'text':
        return `'${table.name.name.replaceAll("'", '')}'`;
      case 'integer':
      case 'number':
        return String(Math.max(declared.min ?? 0, 1000));
      case 'choice':
        return `'${declared.choices?.[0] ?? ''}'`;
      case 'boolean':
        return 'true';
      default:
        return null;
    }
  }

  /** The innermost SELECT around the finding. */
  #select(): Select | null {
    let found: Select | null = null;
    walk(this.#context.program, (node) => {
      if (node['tag'] !== 'select') return;
      const select = node as unknown as Select;
      if (covers(select.span, this.#span) && (found === null || covers(found.span, select.span)))
        found = select;
    });
    return found;
  }

  #grouping(): Fix[] {
    const select = this.#select();
    if (select === null || !this.#report.message.includes('must appear in GROUP BY')) return [];
    const column = this.#written(this.#span);
    const place = this.#clauseEnd(select);
    const taken = this.#replace(this.#span, `max(${column})`, `Take max(${short(column)})`);
    if (place === null) return [taken];
    const text = select.groupBy.length > 0 ? `, ${column}` : `\nGROUP BY ${column}`;
    return [this.#insert(place, text, `Add ${short(column)} to GROUP BY`), taken];
  }

  /** Where the GROUP BY of a SELECT ends, or would. */
  #clauseEnd(select: Select): Position | null {
    const first = this.#tokenIndex(select.span.start);
    const depth = this.#token(first)?.depth ?? 0;
    for (let index = first + 1; index < this.#context.tokens.length; index++) {
      const token = this.#token(index) as Token;
      const isHere = token.depth === depth && token.kind === 'word';
      const isEnd =
        token.depth < depth ||
        token.kind === 'end' ||
        token.text === ';' ||
        (token.depth === depth && token.kind === 'symbol' && token.text === ')' && depth > 0) ||
        (isHere && BEHIND_GROUP_BY.has(token.text));
      if (isEnd) return this.#token(index - 1)?.span.end ?? null;
    }
    return null;
  }

  #watermark(): Fix[] {
    const { suggestion } = this.#report;
    const table = this.#tableMeant();
    if (table === null || table.constraints.some(({ tag }) => tag === 'watermark')) return [];
    const times = (table.columns ?? []).filter(
      ({ type }) => type.tag === 'simple' && type.name.startsWith('timestamp'),
    );
    const given = suggestion?.startsWith('WATERMARK FOR') === true ? [suggestion] : [];
    const made = times.map(({ name }) => {
      const column = this.#written(name.span);
      return `WATERMARK FOR ${column} AS ${column} - INTERVAL '5 seconds'`;
    });
    return [...given, ...made].flatMap((element) => this.#addDefinition(table, element));
  }

  /** A constraint with the comma before it. */
  #withoutWatermark(): Fix[] {
    const index = this.#tokenIndex(this.#span.start);
    const previous = this.#token(index - 1);
    const isConstraint = /^\s*watermark\b/i.test(this.#written(this.#span));
    if (previous?.text !== ',' || !isConstraint) return this.#suggested();
    const span = { start: previous.span.start, end: this.#span.end };
    return [{ title: 'Remove the watermark', edits: [{ span, text: '' }] }];
  }

  /** A table whose `type` says the other side. */
  #otherRole(): Fix[] {
    const role = this.#report.message.includes('can not be read') ? 'source' : 'sink';
    const type = this.#tableMeant()?.options.find(({ key }) => key === 'type');
    if (type === undefined) return [];
    return [this.#replace(type.value.span, `'${role}'`)];
  }

  #changesFormat(): Fix[] {
    const { suggestion } = this.#report;
    const table = this.#tableMeant();
    if (table === null || suggestion?.startsWith('format') !== true) return [];
    const format = table.options.find(({ key }) => key === 'format');
    if (format !== undefined)
      return [this.#replace(format.span, suggestion, `Write the changes: ${suggestion}`)];
    return this.#addOption(table, suggestion);
  }

  #nullTest(): Fix[] {
    const fixes: Fix[] = [];
    walk(this.#context.program, (node) => {
      if (node['tag'] !== 'binary') return;
      const { span, left, right, operator } = node as unknown as BinaryExpression;
      if (!samePlace(span.start, this.#span.start) || !samePlace(span.end, this.#span.end)) return;
      const tested = right.tag === 'null' ? left : right;
      const test = operator === '=' ? 'IS NULL' : 'IS NOT NULL';
      fixes.push(this.#replace(span, `${this.#written(tested.span)} ${test}`));
    });
    return fixes;
  }

  /** A query of the last table, so that there is something to run. */
  #query(): Fix[] {
    const last = this.#context.program.statements.findLast(
      (statement) => statement.tag === 'create_table' || statement.tag === 'create_view',
    );
    if (last?.tag !== 'create_table' && last?.tag !== 'create_view') return [];
    const name = this.#written(last.name.span);
    const { tokens } = this.#context;
    const end = tokens.at(-1)?.span.end ?? this.#span.end;
    const before = tokens.at(-2);
    const semicolon =
      before === undefined || before.text === ';' ? [] : [{ span: at(before.span.end), text: ';' }];
    const edits = [...semicolon, { span: at(end), text: `\nSELECT * FROM ${name};\n` }];
    return [{ title: `Add SELECT * FROM ${name}`, edits }];
  }
}

const BEHIND_GROUP_BY = new Set(
  'having qualify window order limit offset fetch union except intersect'.split(' '),
);

/** Each node of a tree, whatever its height. */
function walk(root: unknown, visit: (node: Record<string, unknown>) => void): void {
  const stack: unknown[] = [root];
  while (stack.length > 0) {
    const node = stack.pop();
    if (typeof node !== 'object' || node === null) continue;
    if (!Array.isArray(node)) visit(node as Record<string, unknown>);
    for (const value of Object.values(node)) if (typeof value === 'object') stack.push(value);
  }
}

/** Fit for the title of a button. */
const short = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
};
