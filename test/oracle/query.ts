/**
 * A plain evaluator of queries over complete tables: the oracle. It shares the parser with the engine and nothing else;
 * everything is nested loops over rows. No row is late for it.
 *
 * Failure: `RowError` of a row leaves that row out and is counted; whatever it does not know throws an `Error`.
 */
import type { CallExpression, Expression } from '../../src/sql/ast-expression.ts';
import type {
  GroupingElement,
  GroupItem,
  OrderItem,
  Query,
  Select,
  SetExpression,
} from '../../src/sql/ast-query.ts';
import { compareByItems, isAggregate } from './aggregates.ts';
import { evaluate, isTrue, WINDOW_FUNCTIONS } from './expression.ts';
import { Keys, NO_KEYS } from './keys.ts';
import { fromAll, NO_ROW } from './from.ts';
import { callsOf } from './calls.ts';
import { overValues } from './over.ts';
import type { Column, Context, Relation, Row, Scope } from './scope.ts';
import { keyText, RowError, type Value, type Whole } from './value.ts';
import { sessionsOf, spanOf, windowsOf, windowValue } from './window.ts';

export type EvaluatorOptions = {
  /** What an aggregate without GROUP BY gives over no rows: nothing, as a stream does, or one row, as SQL does. */
  readonly emptyGroup: 'nothing' | 'row';
};

/** What is the same of all groups by one list of keys. */
type GroupBase = Pick<Context, 'aliases' | 'leftOut' | 'kept'>;

/** A row of a result with what its ORDER BY can see. */
type Candidate = { readonly row: Row; readonly context: Context };

export class Evaluator {
  readonly #tables: Map<string, Relation>;
  readonly #options: EvaluatorOptions;
  readonly #outside = new WeakSet<Scope>();
  failed = 0;

  constructor(tables: ReadonlyMap<string, Relation>, options: EvaluatorOptions) {
    this.#tables = new Map(tables);
    this.#options = options;
  }

  table(name: string): Relation {
    const found = this.#tables.get(name);
    if (found === undefined) throw new Error(`no table ${name}`);
    return found;
  }

  define(name: string, { columns, rows }: Relation, names: readonly string[] = []): void {
    this.#tables.set(name, {
      columns: columns.map((column, at) => ({ ...column, name: names[at] ?? column.name })),
      rows,
    });
  }

  /** Whether the scope is a row of a query outside, not of a table before it in FROM. */
  isOutside(scope: Scope): boolean {
    return this.#outside.has(scope);
  }

  context(scope: Scope): Context {
    return {
      scope,
      group: null,
      window: null,
      leftOut: NO_KEYS,
      kept: NO_KEYS,
      aliases: new Map(),
      over: null,
      subquery: (query, inner, one) => {
        this.#outside.add(inner);
        return this.query(query, inner, one);
      },
    };
  }

  /** @param one  an aggregate of no rows is a row, whatever the options say */
  query(query: Query, outer: Scope | null = null, one = false): Relation {
    const { limit, offset, orderBy, body } = query;
    const hidden = new Map<string, Relation | undefined>();
    for (const common of query.with) {
      hidden.set(common.name.name, this.#tables.get(common.name.name));
      this.define(
        common.name.name,
        this.query(common.query, outer),
        common.columns.map((column) => column.name),
      );
    }
    const result =
      body.tag === 'select'
        ? this.#select(body, orderBy, outer, one)
        : this.#ordered(this.#set(body, outer), orderBy, outer);
    for (const [name, relation] of hidden)
      if (relation === undefined) this.#tables.delete(name);
      else this.#tables.set(name, relation);
    const from = offset === null ? 0 : this.#count(offset);
    const to = limit === null ? Infinity : from + this.#count(limit);
    return { columns: result.columns, rows: result.rows.slice(from, to) };
  }

  #count(expression: Expression): number {
    const context = this.context({ columns: [], row: NO_ROW, outer: null });
    return Number((evaluate(expression, context) as Whole).value);
  }

  #set(body: SetExpression, outer: Scope | null): Relation {
    switch (body.tag) {
      case 'select':
        return this.#select(body, [], outer, false);
      case 'nested':
        return this.query(body.query, outer);
      case 'values': {
        const context = this.context({ columns: [], row: NO_ROW, outer });
        return {
          columns: (body.rows[0] ?? []).map((_, at) => ({
            qualifier: null,
            name: `column${at + 1}`,
          })),
          rows: body.rows.map((row) => ({
            values: row.map((value) => evaluate(value, context)),
            time: null,
          })),
        };
      }
      default: {
        const [left, right] = [this.#set(body.left, outer), this.#set(body.right, outer)];
        return {
          columns: left.columns,
          rows: combined(body.operator, body.all, left.rows, right.rows),
        };
      }
    }
  }

  /** ORDER BY around something else than a SELECT sees its columns only. */
  #ordered(
    { columns, rows }: Relation,
    orderBy: readonly OrderItem[],
    outer: Scope | null,
  ): Relation {
    const candidates = rows.map((row) => ({ row, context: this.context({ columns, row, outer }) }));
    return { columns, rows: sorted(candidates, orderBy).map(({ row }) => row) };
  }

  #select(
    select: Select,
    orderBy: readonly OrderItem[],
    outer: Scope | null,
    one: boolean,
  ): Relation {
    const from = fromAll(select.from, { evaluator: this, outer });
    const aliases = aliasesOf(select);
    const scopes = from.rows.map((row): Scope => ({ columns: from.columns, row, outer }));
    const kept = scopes.filter((scope) =>
      this.#try(false, () => select.where === null || isTrue(select.where, this.context(scope))),
    );
    let contexts: Context[] = this.#isGrouped(select, orderBy)
      ? this.#groups(select, kept, { columns: from.columns, row: NO_ROW, outer }, aliases, one)
      : kept.map((scope) => ({ ...this.context(scope), aliases }));
    const { having, qualify } = select;
    if (having !== null)
      contexts = contexts.filter((context) => this.#try(false, () => isTrue(having, context)));
    contexts = this.#withOver(select, orderBy, contexts);
    if (qualify !== null) contexts = contexts.filter((context) => isTrue(qualify, context));
    const columns = this.#columnsOf(select, from.columns);
    const candidates = contexts.flatMap((context): Candidate[] => {
      const row = this.#try(null, () => this.#project(select, context));
      return row === null ? [] : [{ row, context: selected(context, columns, row, outer) }];
    });
    const order = orderBy.map((item) => this.#orderItem(item, select));
    let found = sorted(candidates, order);
    if (select.distinct) found = firstOf(found, ({ row }) => keyText(row.values));
    const on = select.distinctOn;
    if (on.length > 0)
      found = firstOf(found, ({ context }) => keyText(on.map((key) => evaluate(key, context))));
    const timeless = select.distinct || on.length > 0;
    return { columns, rows: found.map(({ row }) => (timeless ? untimed(row) : row)) };
  }

  /** A row that fails is left out. */
  #try<T>(otherwise: T, compute: () => T): T {
    try {
      return compute();
    } catch (error) {
      if (!(error instanceof RowError)) throw error;
      this.failed++;
      return otherwise;
    }
  }

  #isGrouped(select: Select, orderBy: readonly OrderItem[]): boolean {
    if (select.groupBy.length > 0 || select.having !== null) return true;
    return roots(select, orderBy).some((root) =>
      callsOf(root).some((call) => call.over === null && isAggregate(call.name.name)),
    );
  }

  #groups(
    select: Select,
    scopes: readonly Scope[],
    empty: Scope,
    aliases: ReadonlyMap<string, Expression>,
    one: boolean,
  ): Context[] {
    const read = argumentsOf(select);
    const sets = setsOf(select.groupBy).map((set) =>
      set.map((key) => keyOf(key, select, empty.columns)),
    );
    const all = sets.flat();
    return sets.flatMap((keys) => {
      const kept = new Keys(keys);
      const leftOut = new Keys(
        all.filter((key) => !keys.includes(key)),
        kept,
      );
      const base = { aliases, leftOut, kept };
      return this.#groupsOf(keys, this.#sound(scopes, read, aliases), empty, base, one);
    });
  }

  /** A row stands once for each grouping set, and so it fails in each by what aggregates read of it. */
  #sound(
    scopes: readonly Scope[],
    read: readonly Expression[],
    aliases: ReadonlyMap<string, Expression>,
  ): Scope[] {
    return scopes.filter((scope) => {
      const context = { ...this.context(scope), aliases };
      return this.#try(false, () => {
        for (const argument of read) evaluate(argument, context);
        return true;
      });
    });
  }

  /** The groups by one list of keys. */
  #groupsOf(
    keys: readonly Expression[],
    scopes: readonly Scope[],
    empty: Scope,
    base: GroupBase,
    one: boolean,
  ): Context[] {
    const window = keys.find((key): key is CallExpression => isWindow(key)) ?? null;
    const plain = keys.filter((key) => key !== window);
    const byKey = new Map<string, { scopes: Scope[]; values: Value[] }>();
    for (const scope of scopes) {
      const context = { ...this.context(scope), aliases: base.aliases };
      const values = this.#try(null, () => plain.map((key) => evaluate(key, context)));
      if (values === null) continue;
      const group = byKey.get(keyText(values)) ?? { scopes: [], values };
      byKey.set(keyText(values), group);
      group.scopes.push(scope);
    }
    if (keys.length === 0 && byKey.size === 0 && (one || this.#options.emptyGroup === 'row')) {
      const nulls = { values: empty.columns.map(() => null), time: null };
      return [{ ...this.context({ ...empty, row: nulls }), ...base, group: [] }];
    }
    return [...byKey.values()].flatMap((group) => {
      if (window !== null) return this.#windowed(window, group.scopes, base);
      const span = group.values.map(spanOf).find((each) => each !== null) ?? null;
      return [this.#group(group.scopes, base, null, span === null ? null : span.end - 1n)];
    });
  }

  #group(scopes: readonly Scope[], base: GroupBase, window: Value, time: bigint | null): Context {
    const [first] = scopes as readonly [Scope];
    const scope = { ...first, row: { ...first.row, time } };
    return { ...this.context(scope), ...base, group: scopes, window };
  }

  #windowed(call: CallExpression, scopes: readonly Scope[], base: GroupBase): Context[] {
    const timeOf = ({ row }: Scope): bigint => {
      if (row.time === null) throw new Error('a window over rows without event time');
      return row.time;
    };
    const session = call.name.name === 'session';
    const sessions = session ? sessionsOf(call, scopes.map(timeOf)) : [];
    const byWindow = new Map<string, { scopes: Scope[]; start: bigint; end: bigint }>();
    for (const scope of scopes) {
      const time = timeOf(scope);
      const spans = session
        ? sessions.filter(({ start, end }) => start <= time && time < end)
        : windowsOf(call, time);
      for (const { start, end } of spans) {
        const known = byWindow.get(`${start} ${end}`) ?? { scopes: [], start, end };
        byWindow.set(`${start} ${end}`, known);
        known.scopes.push(scope);
      }
    }
    return [...byWindow.values()].map((each) =>
      this.#group(each.scopes, base, windowValue(each), each.end - 1n),
    );
  }

  #withOver(select: Select, orderBy: readonly OrderItem[], contexts: Context[]): Context[] {
    const calls = roots(select, orderBy)
      .flatMap(callsOf)
      .filter((call) => call.over !== null);
    if (calls.length === 0) return contexts;
    const results = overValues(calls, contexts, select.windows);
    return contexts.map((context, at) => ({ ...context, over: results[at] ?? null }));
  }

  #columnsOf(select: Select, from: readonly Column[]): Column[] {
    return select.items.flatMap((item, at): Column[] => {
      if (item.tag === 'wildcard')
        return starColumns(item, from).map((index) => ({
          qualifier: null,
          name: (from[index] as Column).name,
        }));
      return [{ qualifier: null, name: item.alias?.name ?? nameOf(item.expression, at) }];
    });
  }

  #project(select: Select, context: Context): Row {
    const { row, columns } = context.scope;
    const values = select.items.flatMap((item): readonly Value[] => {
      if (item.tag === 'expression') return [evaluate(item.expression, context)];
      return starColumns(item, columns).map((index) => row.values[index] as Value);
    });
    return { values, time: row.time };
  }

  /** A position names the item at it, and so does an alias. */
  #orderItem(item: OrderItem, select: Select): OrderItem {
    const { expression } = item;
    if (expression.tag === 'number') {
      const at = select.items[Number(expression.text) - 1];
      if (at?.tag === 'expression') return { ...item, expression: at.expression };
    }
    const alias =
      expression.tag === 'path' && expression.parts.length === 1
        ? aliasesOf(select).get(expression.parts[0]?.name ?? '')
        : undefined;
    return alias === undefined ? item : { ...item, expression: alias };
  }
}

type Wildcard = Select['items'][number] & { tag: 'wildcard' };

function starColumns({ qualifier, exclude }: Wildcard, columns: readonly Column[]): number[] {
  const dropped = exclude.map((column) => column.name);
  return columns.flatMap((column, at) => {
    const wanted =
      qualifier === null ? column.hidden !== true : column.qualifier === qualifier.name;
    return wanted && !dropped.includes(column.name) ? [at] : [];
  });
}

const untimed = (row: Row): Row => ({ ...row, time: null });

/** The context with the result's own columns within reach of ORDER BY, behind those of FROM. */
function selected(
  context: Context,
  columns: readonly Column[],
  row: Row,
  outer: Scope | null,
): Context {
  const own: Scope = { columns, row, outer };
  return { ...context, scope: { ...context.scope, outer: own } };
}

function aliasesOf(select: Select): ReadonlyMap<string, Expression> {
  return new Map(
    select.items.flatMap((item) =>
      item.tag === 'expression' && item.alias !== null ? [[item.alias.name, item.expression]] : [],
    ),
  );
}

const roots = (select: Select, orderBy: readonly OrderItem[]): Expression[] => [
  ...select.items.flatMap((item) => (item.tag === 'expression' ? [item.expression] : [])),
  ...(select.having === null ? [] : [select.having]),
  ...(select.qualify === null ? [] : [select.qualify]),
  ...orderBy.map((item) => item.expression),
];

/** What aggregates read of each row: a row for which that fails is left out before it is grouped. */
const argumentsOf = (select: Select): Expression[] =>
  roots(select, [])
    .flatMap(callsOf)
    .filter((call) => call.over === null && isAggregate(call.name.name))
    .flatMap((call) => [
      ...call.args.map((arg) => arg.value),
      ...[...call.orderBy, ...call.withinGroup].map((item) => item.expression),
      ...(call.filter === null ? [] : [call.filter]),
    ]);

const isWindow = (key: Expression): boolean =>
  key.tag === 'call' && WINDOW_FUNCTIONS.includes(key.name.name);

/** What a key of GROUP BY means: a position, a column, or else an alias. */
function keyOf(key: Expression, select: Select, columns: readonly Column[]): Expression {
  if (key.tag === 'number') {
    const item = select.items[Number(key.text) - 1];
    return item?.tag === 'expression' ? item.expression : key;
  }
  if (key.tag !== 'path' || key.parts.length > 1) return key;
  const name = key.parts[0]?.name ?? '';
  return columns.some((column) => column.name === name)
    ? key
    : (aliasesOf(select).get(name) ?? key);
}

/** The lists of keys by which rows are grouped: every choice of one set of each item. */
function setsOf(items: readonly GroupItem[]): Expression[][] {
  let sets: Expression[][] = [[]];
  for (const item of items) {
    const own = item.tag === 'grouping_sets' ? setsOfElement(item) : [[item]];
    sets = sets.flatMap((set) => own.map((more) => [...set, ...more]));
  }
  return sets;
}

function setsOfElement(element: GroupingElement): Expression[][] {
  if (element.tag === 'grouping_set') return [[...element.expressions]];
  const parts = element.elements.map(setsOfElement);
  if (element.kind === 'sets') return parts.flat();
  const [first, ...rest] = parts.map((part) => part[0] ?? []);
  if (first === undefined) return [[]];
  if (element.kind === 'rollup')
    return [first, ...rest].reduce<Expression[][]>(
      (sets, part) => [...sets, [...(sets.at(-1) ?? []), ...part]],
      [[]],
    );
  return [first, ...rest].reduce<Expression[][]>(
    (sets, part) => [...sets, ...sets.map((set) => [...set, ...part])],
    [[]],
  );
}

/** The name of a column without an alias. */
function nameOf(expression: Expression, at: number): string {
  if (expression.tag === 'path') return expression.parts.at(-1)?.name ?? '';
  if (expression.tag === 'call') return expression.name.name;
  return `column${at + 1}`;
}

/** By the keys, and then by all columns, so that the answer is one. */
function sorted(candidates: readonly Candidate[], orderBy: readonly OrderItem[]): Candidate[] {
  if (orderBy.length === 0) return [...candidates];
  return [...candidates].sort((left, right) =>
    compareByItems(left.context, right.context, orderBy, evaluate),
  );
}

function firstOf(
  candidates: readonly Candidate[],
  keyOfCandidate: (candidate: Candidate) => string,
): Candidate[] {
  const seen = new Set<string>();
  return candidates.filter((candidate) => {
    const key = keyOfCandidate(candidate);
    return seen.has(key) ? false : seen.add(key);
  });
}

function combined(
  operator: 'union' | 'except' | 'intersect',
  all: boolean,
  left: readonly Row[],
  right: readonly Row[],
): Row[] {
  if (operator === 'union' && all) return [...left, ...right];
  const once = (rows: readonly Row[]): Row[] => {
    const seen = new Set<string>();
    return rows.map(untimed).filter(({ values }) => {
      const key = keyText(values);
      return seen.has(key) ? false : seen.add(key);
    });
  };
  if (operator === 'union') return once([...left, ...right]);
  const counts = new Map<string, number>();
  for (const { values } of right) {
    const key = keyText(values);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return (all ? left.map(untimed) : once(left)).filter(({ values }) => {
    const key = keyText(values);
    const count = counts.get(key) ?? 0;
    if (all) counts.set(key, count - 1);
    return count > 0 === (operator === 'intersect');
  });
}
