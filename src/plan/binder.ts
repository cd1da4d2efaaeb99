/**
 * A program → its logical plan, or everything that is wrong with it.
 *
 * Place in the walk: stage 2. Statements are bound in the order of the text: a name can be used below its
 * definition only. Every form the grammar has is planned or refused by name; none is ignored.
 * Failure behaviour: never throws on what a user can write.
 */
import type { ErrorReport, Span } from '../base/errors.ts';
import type { NamedTable } from '../sql/ast-query.ts';
import type {
  CreateView,
  Insert,
  Program,
  QueryStatement,
  Statement,
} from '../sql/ast-statement.ts';
import { type Environment, renameColumns } from './bind-from.ts';
import { bindQuery } from './bind-query.ts';
import { bindSelectOver } from './bind-select.ts';
import {
  bindSinkInput,
  bindSinkTarget,
  defaultSinkTarget,
  finishSink,
  memoryTarget,
} from './bind-sink.ts';
import type { UserFunction } from '../expr/user-function.ts';
import { functionsOf } from './declared-functions.ts';
import { bindFunction } from './bind-function.ts';
import { checkPartitionFields } from './bind-partitions.ts';
import { checkPaths } from './check-paths.ts';
import { nameText, nearestName } from './name-text.ts';
import { writeOutAggregates } from './user-aggregates.ts';
import { bindTtl } from './bind-set.ts';
import { bindSource } from './bind-source.ts';
import { Diagnostics, withSuggestion } from './diagnostics.ts';
import { liftCalls } from './lift-calls.ts';
import type { LogicalPlan, PlanNode } from './logical.ts';
import { type Role, readOptions } from './options.ts';
import { type ProgramTable, tableInfo, viewInfo } from './program-tables.ts';
import { type BoundQuery, UNKNOWN_QUERY, queryOf } from './scope.ts';
import { type OutsideTable, OutsideTables } from './outside-tables.ts';
import { type Catalog, type SinkTarget, type Table, bindTable } from './table.ts';

export type BindOptions = {
  /** The connector that bare SELECTs write to. */
  defaultSink: 'preview' | 'stdout';
  /** Part of the text could not be parsed: an unknown table is then no finding of its own. */
  partial?: boolean;
  /** Functions from outside the program. */
  functions?: readonly UserFunction[];
  /** Tables from outside the program, for names that it does not declare itself. */
  tables?: readonly OutsideTable[];
  /** EXPLAIN is answered with the plan instead of being refused. */
  explain?: boolean;
};

export type BindResult = {
  plan: LogicalPlan | null;
  errors: ErrorReport[];
  warnings: ErrorReport[];
  /** What EXPLAIN asked to see; null: nothing is to be explained. */
  explained: 'logical' | 'physical' | 'all' | null;
  /** Names of the tables from outside that it uses. */
  outside: string[];
  /** What has a name, in the order of the text, whether or not there are errors. */
  tables: ProgramTable[];
};

export function bindProgram(program: Program, catalog: Catalog, options: BindOptions): BindResult {
  const binder = new ProgramBinder(catalog, options);
  for (const statement of program.statements) binder.bind(statement);
  return binder.finish(program);
}

/** Something that has a name in the program. */
type Named = { tag: 'table'; table: Table } | { tag: 'view'; query: BoundQuery; span: Span };

type Writing = { target: SinkTarget; inputs: PlanNode[] };

class ProgramBinder {
  readonly #catalog: Catalog;
  readonly #options: BindOptions;
  readonly #diagnostics = new Diagnostics();
  readonly #names = new Map<string, Named>();
  readonly #outside: OutsideTables;
  /** By table name, in order of first use. */
  readonly #writings = new Map<string, Writing>();
  readonly #environment: Environment;
  /** What EXPLAIN asked to see. */
  explained: BindResult['explained'] = null;
  #selectCount = 0;
  #hasQuery = false;

  constructor(catalog: Catalog, options: BindOptions) {
    this.#catalog = catalog;
    this.#options = options;
    this.#outside = new OutsideTables(options.tables ?? []);
    for (const fn of options.functions ?? [])
      functionsOf(this.#diagnostics).set(fn.name, { fn, called: null, outside: true });
    this.#environment = {
      diagnostics: this.#diagnostics,
      commonTables: new Map(),
      read: (table) => this.#read(table),
      bindQuery,
      bindSelect: bindSelectOver,
      settings: { updatingTtlMicros: null },
    };
  }

  bind(written: Statement): void {
    const diagnostics = this.#diagnostics;
    const statement = writeOutAggregates(written, diagnostics);
    switch (statement.tag) {
      case 'create_table': {
        if (!this.#isFree(statement.name, statement.ifNotExists)) return;
        const table = bindTable(statement, this.#catalog, diagnostics);
        this.#names.set(statement.name.name, { tag: 'table', table });
        return;
      }
      case 'create_view':
        return this.#bindView(statement);
      case 'insert':
        return this.#bindInsert(statement);
      case 'query_statement':
        this.#hasQuery = true;
        return this.#bindSelect(statement);
      case 'set': {
        if (statement.key === 'updating_ttl')
          this.#environment.settings.updatingTtlMicros = bindTtl(statement, diagnostics);
        else
          diagnostics.error(
            'UNKNOWN_OPTION',
            `unknown setting "${statement.key}"`,
            statement.keySpan,
            {
              hint: 'the only setting of SQL is updating_ttl; parallelism and checkpoint interval belong to the pipeline',
            },
          );
        return;
      }
      case 'create_function':
        return bindFunction(statement, diagnostics);
      case 'explain':
        this.#hasQuery = true;
        if (this.#options.explain === true) {
          this.explained = statement.mode ?? 'all';
          return this.bind(statement.statement);
        }
        diagnostics.error(
          'UNSUPPORTED',
          'EXPLAIN is not a statement of a pipeline',
          statement.span,
          { hint: 'validate the query to see its plan, or leave the word out to run it' },
        );
        return;
    }
  }

  finish(program: Program): BindResult {
    this.#checkUnused();
    this.#checkPaths();
    const last = program.statements.at(-1);
    if (!this.#hasQuery && this.#options.partial !== true && this.#diagnostics.count === 0) {
      // What is missing is missing at the end.
      const end = last?.span.end ?? { line: 1, column: 1 };
      const start = { line: end.line, column: Math.max(1, end.column - 1) };
      this.#diagnostics.error(
        'NO_QUERY',
        'the program has no query',
        { start, end },
        { hint: 'add INSERT INTO … SELECT, or a SELECT' },
      );
    }
    const { explained } = this;
    const plan = this.#diagnostics.count > 0 ? null : this.#plan();
    const { errors, warnings } = this.#diagnostics;
    const outside = [...this.#outside.used];
    const tables = [...this.#names].map(([name, named]) =>
      named.tag === 'table' ? tableInfo(named.table) : viewInfo(name, named.query, named.span),
    );
    return { plan: errors.length > 0 ? null : plan, errors, warnings, explained, outside, tables };
  }

  #plan(): LogicalPlan {
    const sinks = [...this.#writings.values()].map(({ target, inputs }) =>
      finishSink(target, inputs),
    );
    return liftCalls({ sinks }, this.#diagnostics);
  }

  /** Tables nobody uses are checked all the same: a mistake is found when it is written. */
  #checkUnused(): void {
    for (const named of this.#names.values()) {
      if (named.tag !== 'table' || named.table.source !== null || named.table.sink !== null)
        continue;
      const { table } = named;
      if (table.connector === null || table.role === null) {
        if (table.connector !== null)
          readOptions(table.written, table.connector.options, null, table.span, this.#diagnostics);
        continue;
      }
      if (table.role === 'source') table.source = bindSource(table, this.#diagnostics);
      else bindSinkTarget(table, this.#diagnostics);
    }
  }

  #checkPaths(): void {
    const tables = [...this.#names.values()].flatMap((named) =>
      named.tag === 'table' ? [named.table] : [],
    );
    checkPaths(
      tables.filter(({ name }) => this.#writings.has(name.name)),
      tables.filter(({ source }) => source !== null),
      this.#diagnostics,
    );
  }

  #isFree(name: { name: string; text: string; span: Span }, orExists: boolean): boolean {
    if (!this.#names.has(name.name)) return true;
    if (!orExists)
      this.#diagnostics.error('DUPLICATE_NAME', `"${name.text}" already exists`, name.span, {
        hint: 'tables and views share their names',
      });
    return false;
  }

  #bindView(statement: CreateView): void {
    const { name, columns, query, ifNotExists } = statement;
    const bound = renameColumns(
      bindQuery(query, this.#environment),
      { name, columns },
      this.#diagnostics,
    );
    const names = bound.columns.map((column) => column.name);
    const twice = names.find((candidate, index) => names.indexOf(candidate) < index);
    if (twice !== undefined)
      this.#diagnostics.error(
        'DUPLICATE_NAME',
        `the view "${name.text}" has two columns named "${twice}"`,
        name.span,
        { hint: 'rename one with AS' },
      );
    if (this.#isFree(name, ifNotExists))
      this.#names.set(name.name, { tag: 'view', query: bound, span: name.span });
  }

  #read(reference: NamedTable): BoundQuery {
    const { name } = reference;
    const named = this.#find(name);
    if (named === null) return UNKNOWN_QUERY;
    if (named.tag === 'view') return named.query;
    const { table } = named;
    if (table.memory) return this.#readMemory(table, name.span);
    if (!this.#claim(table, 'source', name.span)) return UNKNOWN_QUERY;
    table.source ??= bindSource(table, this.#diagnostics);
    return table.source;
  }

  #find(name: NamedTable['name']): Named | null {
    const named = this.#names.get(name.name);
    if (named !== undefined) return named;
    const declaration = this.#outside.declarationOf(name, this.#diagnostics);
    if (declaration === 'broken') return null;
    if (declaration !== null) {
      const table = bindTable(declaration, this.#catalog, this.#diagnostics);
      this.#names.set(name.name, { tag: 'table', table });
      return { tag: 'table', table };
    }
    if (this.#options.partial !== true) {
      const known = [...this.#names.keys(), ...this.#outside.names];
      this.#diagnostics.error(
        'UNKNOWN_TABLE',
        `unknown table "${name.text}"`,
        name.span,
        withSuggestion(
          nearestName(name.name, known),
          known.length === 0
            ? 'create it first with CREATE TABLE'
            : `known here are ${known.map(nameText).join(', ')}`,
        ),
      );
    }
    return null;
  }

  /** Settles that a table is read or written; false after an error. */
  #claim(table: Table, role: Role, span: Span): boolean {
    table.role ??= role;
    if (table.role === role) return true;
    const given = table.written.has('type');
    if (role === 'source')
      this.#diagnostics.error(
        'INVALID_SINK',
        `"${table.name.text}" is a sink and can not be read`,
        span,
        {
          hint: given
            ? 'create a second table for reading'
            : 'a table is either read or written; create a second one for reading',
        },
      );
    else
      this.#diagnostics.error(
        'INVALID_SINK',
        `"${table.name.text}" is a source and can not be written`,
        span,
        {
          hint: given
            ? "create a table with type = 'sink'"
            : "a table is either read or written; create a second one with type = 'sink'",
        },
      );
    return false;
  }

  /** A memory table is what its one INSERT gives, for the statements behind it. */
  #fillMemory(table: Table, statement: Insert, query: BoundQuery): void {
    const { span } = statement.table;
    if (table.source !== null) {
      this.#diagnostics.error(
        'INVALID_SINK',
        `the memory table "${table.name.text}" is filled twice`,
        span,
        { hint: 'put the queries together with UNION ALL' },
      );
      return;
    }
    const node = bindSinkInput(memoryTarget(table), query, statement, span, this.#diagnostics);
    table.source = node === null ? UNKNOWN_QUERY : queryOf(node);
  }

  #readMemory(table: Table, span: Span): BoundQuery {
    if (table.source !== null) return table.source;
    this.#diagnostics.error(
      'MISSING_OPTION',
      `the table "${table.name.text}" has no connector, and nothing was inserted into it yet`,
      span,
      { hint: "add WITH (connector = '…'), or INSERT INTO it first" },
    );
    return UNKNOWN_QUERY;
  }

  #bindInsert(statement: Insert): void {
    const diagnostics = this.#diagnostics;
    const query = bindQuery(statement.query, this.#environment);
    const named = this.#find(statement.table);
    if (named === null) return;
    if (named.tag === 'view') {
      diagnostics.error(
        'INVALID_SINK',
        `"${statement.table.text}" is a view and can not be written`,
        statement.table.span,
        { hint: 'insert into a table with a connector' },
      );
      return;
    }
    const { table } = named;
    if (table.memory) return this.#fillMemory(table, statement, query);
    this.#hasQuery = true;
    if (table.temporary) {
      diagnostics.error(
        'INVALID_SINK',
        `"${table.name.text}" is a TEMPORARY table and can not be written`,
        statement.table.span,
        { hint: 'rows are looked up in it; leave TEMPORARY out to write to it' },
      );
      return;
    }
    if (!this.#claim(table, 'sink', statement.table.span)) return;
    if (table.sink === null) table.sink = bindSinkTarget(table, diagnostics);
    if (table.sink === null) return;
    const input = bindSinkInput(table.sink, query, statement, statement.table.span, diagnostics);
    if (input === null) return;
    checkPartitionFields(table.sink, table, input.schema, diagnostics);
    if (table.sink.columns === null) {
      // What the first query gives is from now on what the table has.
      const columns = input.schema.map(({ name, type }) => ({
        name,
        type,
        notNull: false,
        fallback: null,
      }));
      table.sink = { ...table.sink, columns };
    }
    this.#write(table.sink, input);
  }

  #bindSelect(statement: QueryStatement): void {
    const query = bindQuery(statement.query, this.#environment);
    const name = this.#freeSelectName();
    const connector = this.#catalog.connectors.find(
      (candidate) => candidate.name === this.#options.defaultSink,
    );
    if (connector === undefined) {
      this.#diagnostics.error(
        'UNKNOWN_CONNECTOR',
        `there is no connector "${this.#options.defaultSink}" to show the rows of a SELECT`,
        statement.span,
        { hint: 'write INSERT INTO a table' },
      );
      return;
    }
    const target = defaultSinkTarget(name, connector, statement.span, this.#diagnostics);
    const input = bindSinkInput(target, query, null, statement.span, this.#diagnostics);
    if (input !== null) this.#write(target, input);
  }

  /** `select_1`, `select_2`, … past names the author took. */
  #freeSelectName(): string {
    do this.#selectCount++;
    while (this.#names.has(`select_${this.#selectCount}`));
    return `select_${this.#selectCount}`;
  }

  #write(target: SinkTarget, input: PlanNode): void {
    const writing = this.#writings.get(target.table);
    if (writing === undefined) this.#writings.set(target.table, { target, inputs: [input] });
    else writing.inputs.push(input);
  }
}
