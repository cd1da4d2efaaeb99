/**
 * Arbitrary syntax trees in the normal form that the parser promises: no bare nested query, no IN list of
 * one subquery, no constraint without a column list, unquoted names that are not reserved.
 */
import fc from 'fast-check';
import type { Identifier } from '../../src/sql/ast.ts';
import type { MatchSkip, Pattern } from '../../src/sql/ast-match.ts';
import type {
  BinaryOperator,
  BooleanLiteral,
  BytesLiteral,
  CallExpression,
  Expression,
  FrameBound,
  IntervalLiteral,
  NumberLiteral,
  StringLiteral,
  TypedLiteral,
} from '../../src/sql/ast-expression.ts';
import type {
  JoinConstraint,
  JoinKind,
  Query,
  SelectItem,
  SetExpression,
  TableReference,
} from '../../src/sql/ast-query.ts';
import type {
  Insert,
  OptionValue,
  Program,
  QueryStatement,
  Statement,
  TableConstraint,
  TableOption,
} from '../../src/sql/ast-statement.ts';
import type { TypeName } from '../../src/sql/ast-type.ts';
import { INTERVAL_UNITS, isReserved } from '../../src/sql/keywords.ts';
import { BINARY_PRECEDENCE } from '../../src/sql/precedence.ts';

const span = { start: { line: 1, column: 1 }, end: { line: 1, column: 1 } };

const BARE_NAMES = (
  'a b1 _c Total größe x$y timestamp date time window key value type interval offset topic start first row ' +
  'struct map desc by filter over watermark primary metadata generated both extract position e x rows exists'
).split(' ');

const bareName = fc
  .constantFrom(...BARE_NAMES)
  .map((text): Identifier => ({ name: text.toLowerCase(), quoted: false, text, span }));
const quotedName = fc
  .oneof(
    fc.constantFrom('group', 'end', 'Mixed', 'with "quotes"', 'a.b', 'select', '`'),
    fc.string({ minLength: 1, unit: 'grapheme' }),
  )
  .map((text): Identifier => ({ name: text, quoted: true, text, span }));
const identifier = fc.oneof(
  { weight: 4, arbitrary: bareName },
  { weight: 1, arbitrary: quotedName },
);
/** Where every word is allowed. */
const anyWord = fc.oneof(
  identifier,
  fc
    .constantFrom('end', 'select', 'GROUP')
    .map((text): Identifier => ({ name: text.toLowerCase(), quoted: false, text, span })),
);
const text = fc.oneof(
  fc.constantFrom('', "it's", 'a\nb', '\\n', "''", '--', '$$'),
  fc.string({ unit: 'grapheme' }),
);

const numberText = fc.oneof(
  fc.nat().map(String),
  fc.constantFrom('0.5', '.5', '1.', '1e10', '1.5E-3', '123456789012345678901234567890.000100'),
);

const number = numberText.map((digits): NumberLiteral => ({
  tag: 'number',
  text: digits,
  span,
}));
const string = text.map((value): StringLiteral => ({ tag: 'string', value, span }));
const boolean = fc.boolean().map((value): BooleanLiteral => ({ tag: 'boolean', value, span }));
const interval = fc
  .tuple(text, fc.option(fc.constantFrom(...INTERVAL_UNITS)))
  .map(([quantity, unit]): IntervalLiteral => ({
    tag: 'interval',
    text: quantity,
    unit,
    span,
  }));
const typedLiteral = fc
  .tuple(
    fc.constantFrom(
      'timestamp',
      'date',
      'time',
      'timestamptz',
      'datetime',
      'timestamp with time zone',
    ),
    text,
  )
  .map(([name, value]): TypedLiteral => ({
    tag: 'typed_literal',
    type: { tag: 'simple', name, parameters: [], span },
    text: value,
    span,
  }));
const bytes = fc
  .constantFrom('', '0aff', 'c3')
  .map((hex): BytesLiteral => ({ tag: 'bytes', hex, span }));

/** One depth for all kinds of nesting, so that trees stay small however they are made up. */
const bounds = {
  depthIdentifier: fc.createDepthIdentifier(),
  depthSize: 'small',
  maxDepth: 5,
} as const;
const list = <T>(arbitrary: fc.Arbitrary<T>, minLength = 0): fc.Arbitrary<T[]> => {
  const many = fc.array(arbitrary, { minLength: Math.max(1, minLength), maxLength: 3 });
  return minLength > 0 ? many : fc.oneof(bounds, fc.constant<T[]>([]), many);
};
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.option(arbitrary, bounds);
const spanned = <T extends object>(
  arbitrary: fc.Arbitrary<T>,
): fc.Arbitrary<T & { span: typeof span }> => arbitrary.map((node) => ({ ...node, span }));
/** A node with these fields. */
const node = <Tag extends string, Fields extends object>(
  tag: Tag,
  fields: { [Key in keyof Fields]: fc.Arbitrary<Fields[Key]> },
): fc.Arbitrary<{ tag: Tag; span: typeof span } & Fields> =>
  fc.record(fields).map((record) => ({ tag, span, ...(record as Fields) }));

const SIMPLE_TYPES: readonly (readonly [string, readonly number[]])[] = [
  ['bigint', []],
  ['bigint unsigned', []],
  ['int', []],
  ['double precision', []],
  ['character varying', [20]],
  ['decimal', [38, 18]],
  ['timestamp', [6]],
  ['timestamp with time zone', [3]],
  ['time with time zone', []],
  ['text', []],
  ['interval', []],
  ['größe', []],
];

type Tied = {
  expression: Expression;
  query: Query;
  setExpression: SetExpression;
  table: TableReference;
  pattern: Pattern;
  type: TypeName;
};

const tied = fc.letrec<Tied>((tie) => {
  const expression = tie('expression');
  const query = tie('query');
  const type = tie('type');
  const orderItem = spanned(
    fc.record({
      expression,
      descending: fc.boolean(),
      nulls: fc.constantFrom('first' as const, 'last' as const, null),
    }),
  );
  const bound: fc.Arbitrary<FrameBound> = fc.oneof(
    bounds,
    fc
      .constantFrom('unbounded_preceding', 'current_row', 'unbounded_following')
      .map((tag) => ({ tag, span }) as FrameBound),
    node('preceding', { offset: expression }),
    node('following', { offset: expression }),
  );
  const frame = spanned(
    fc.record({
      unit: fc.constantFrom('rows' as const, 'range' as const, 'groups' as const),
      start: bound,
      end: bound,
    }),
  );
  const windowSpecification = spanned(
    fc.record({
      // Where a frame or a partition may start, these words start one.
      base: optional(
        identifier.filter(
          ({ quoted, name }) => quoted || !['partition', 'rows', 'range', 'groups'].includes(name),
        ),
      ),
      partitionBy: list(expression),
      orderBy: list(orderItem),
      frame: optional(frame),
    }),
  );
  const argument = spanned(fc.record({ name: optional(anyWord), value: expression }));
  // The names with a syntax of their own are calls only when quoted.
  const functionName = fc.oneof(
    fc.constantFrom('count', 'Sum', 'left', 'tumble').map((word): Identifier => ({
      name: word.toLowerCase(),
      quoted: false,
      text: word,
      span,
    })),
    quotedName,
  );
  const call = fc
    .record({
      name: functionName,
      star: fc.boolean(),
      distinct: fc.boolean(),
      args: list(argument),
      orderBy: list(orderItem),
      withinGroup: list(orderItem),
      filter: optional(expression),
      nullTreatment: fc.constantFrom('respect' as const, 'ignore' as const, null),
      over: optional(windowSpecification),
    })
    .map((fields): CallExpression => {
      const isBare = fields.star || fields.args.length === 0;
      const plain = { distinct: false, args: [], orderBy: [] };
      return { tag: 'call', ...fields, ...(isBare ? plain : {}), span };
    });
  const negated = fc.boolean();
  const rowField = spanned(fc.record({ name: optional(anyWord), value: expression }));
  const branch = spanned(fc.record({ when: expression, then: expression }));
  const inList = node('in_list', { operand: expression, items: list(expression, 1), negated }).map(
    (member): Expression => {
      const [only] = member.items;
      if (member.items.length !== 1 || only?.tag !== 'subquery') return member;
      return {
        tag: 'in_query',
        operand: member.operand,
        query: only.query,
        negated: member.negated,
        span,
      };
    },
  );
  const binaryOperators = Object.keys(BINARY_PRECEDENCE) as BinaryOperator[];
  const compound: fc.Arbitrary<Expression>[] = [
    node('field', { base: expression, name: anyWord }),
    node('subscript', { base: expression, index: expression }),
    node('slice', { base: expression, from: optional(expression), to: optional(expression) }),
    node('unary', {
      operator: fc.constantFrom('-' as const, '+' as const, '~' as const, 'not' as const),
      operand: expression,
    }),
    node('binary', {
      operator: fc.constantFrom(...binaryOperators),
      operatorSpan: fc.constant(span),
      left: expression,
      right: expression,
    }),
    node('is', {
      operand: expression,
      test: fc.constantFrom('null' as const, 'true' as const, 'false' as const, 'unknown' as const),
      negated,
    }),
    node('is_distinct', { left: expression, right: expression, negated }),
    node('between', { operand: expression, low: expression, high: expression, negated }),
    inList,
    node('in_query', { operand: expression, query, negated }),
    node('like', {
      kind: fc.constantFrom('like' as const, 'ilike' as const, 'similar' as const),
      operand: expression,
      pattern: expression,
      escape: optional(string),
      negated,
    }),
    node('case', {
      operand: optional(expression),
      branches: list(branch, 1),
      otherwise: optional(expression),
    }),
    node('cast', { operand: expression, type, safe: fc.boolean() }),
    node('at_time_zone', { operand: expression, zone: expression }),
    call,
    node('array', { elements: list(expression) }),
    node('row', { fields: list(rowField) }),
    node('exists', { query }),
    node('subquery', { query }),
  ];
  const path = fc
    .tuple(identifier, fc.array(anyWord, { maxLength: 2 }))
    .map(([first, more]): Expression => ({ tag: 'path', parts: [first, ...more], span }));
  const nullLiteral = fc.constant<Expression>({ tag: 'null', span });
  const leaf = fc.oneof(path, number, string, boolean, nullLiteral, bytes, interval, typedLiteral);

  const wildcard = node('wildcard', { qualifier: optional(identifier), exclude: list(identifier) });
  const item: fc.Arbitrary<SelectItem> = fc.oneof(
    bounds,
    wildcard,
    node('expression', { expression, alias: optional(anyWord) }),
  );
  const table = tie('table');
  const groupingSet = node('grouping_set', {
    expressions: list(expression).filter(
      ([only, ...more]) => more.length > 0 || only?.tag !== 'row',
    ),
  });
  const simpleSets = node('grouping_sets', {
    kind: fc.constantFrom('rollup' as const, 'cube' as const),
    elements: list(groupingSet, 1),
  });
  const groupingSets = fc.oneof(
    simpleSets,
    node('grouping_sets', {
      kind: fc.constant('sets' as const),
      elements: list(fc.oneof(groupingSet, simpleSets), 1),
    }),
  );
  const plainSelect = node('select', {
    distinct: fc.boolean(),
    distinctOn: list(expression),
    items: list(item, 1),
    from: list(table),
    where: optional(expression),
    groupBy: list(fc.oneof({ weight: 6, arbitrary: expression }, groupingSets)),
    having: optional(expression),
    windows: list(spanned(fc.record({ name: identifier, window: windowSpecification }))),
    qualify: optional(expression),
  });
  const select = plainSelect.map((fields) => ({
    ...fields,
    distinct: fields.distinct && fields.distinctOn.length === 0,
  }));
  const values = node('values', { rows: list(list(expression, 1), 1) });
  const setExpression = tie('setExpression');
  const nested = query.map((inner): SetExpression =>
    isBare(inner) ? inner.body : { tag: 'nested', query: inner, span },
  );
  const setOperation = node('set_operation', {
    operator: fc.constantFrom('union' as const, 'except' as const, 'intersect' as const),
    all: fc.boolean(),
    left: setExpression,
    right: setExpression,
  });
  const commonTable = spanned(fc.record({ name: identifier, columns: list(identifier), query }));
  const wholeQuery = node('query', {
    with: list(commonTable),
    body: setExpression,
    orderBy: list(orderItem),
    limit: optional(expression),
    offset: optional(expression),
  }).map((outer): Query =>
    isBare(outer) && outer.body.tag === 'nested' ? outer.body.query : outer,
  );

  const alias = optional(spanned(fc.record({ name: identifier, columns: list(identifier) })));
  const constraint: fc.Arbitrary<JoinConstraint> = fc.oneof(
    bounds,
    node('using', { columns: list(identifier, 1) }),
    node('on', { condition: expression }),
    fc.constant({ tag: 'natural' as const, span }),
  );
  const joinKind = fc.constantFrom<JoinKind[]>(
    'inner',
    'left',
    'right',
    'full',
    'cross',
    'semi',
    'anti',
  );
  const join = node('join', {
    kind: joinKind,
    asOf: fc.boolean(),
    left: table,
    right: table,
    constraint,
  }).map((made): TableReference => ({
    ...made,
    asOf:
      made.asOf &&
      (made.kind === 'inner' || made.kind === 'left') &&
      made.constraint?.tag !== 'natural',
    constraint: made.kind === 'cross' ? null : made.constraint,
  }));
  const pattern = tie('pattern');
  const skip: fc.Arbitrary<MatchSkip> = fc.oneof(
    fc.constantFrom<MatchSkip>({ tag: 'past_last', span }, { tag: 'next_row', span }),
    node('to_first', { variable: identifier }),
    node('to_last', { variable: identifier }),
  );
  const match = node('match', {
    input: table,
    partitionBy: list(expression),
    orderBy: list(orderItem),
    measures: list(spanned(fc.record({ expression, name: anyWord }))),
    skip: fc.option(skip),
    pattern,
    within: optional(expression),
    define: list(spanned(fc.record({ name: identifier, condition: expression }))),
    alias,
  });
  const repeat = node('repeat', {
    pattern,
    least: fc.nat(3),
    most: fc.option(fc.nat(3)),
    reluctant: fc.boolean(),
  }).map((made) => ({
    ...made,
    most: made.most === null ? null : Math.max(1, made.least, made.most),
  }));
  const structField = spanned(fc.record({ name: identifier, type, notNull: fc.boolean() }));
  return {
    expression: fc.oneof({ ...bounds, withCrossShrink: true }, leaf, ...compound),
    query: wholeQuery,
    setExpression: fc.oneof(
      { ...bounds, withCrossShrink: true },
      select,
      values,
      nested,
      setOperation,
    ),
    table: fc.oneof(
      { ...bounds, withCrossShrink: true },
      node('table', { name: identifier, asOf: optional(expression), alias }),
      node('derived', { lateral: fc.boolean(), query, alias }),
      node('table_function', {
        lateral: fc.boolean(),
        call: call.filter(({ name }) => name.quoted || !isReserved(name.name)),
        withOrdinality: fc.boolean(),
        alias,
      }),
      node('windowed', {
        name: identifier,
        table: identifier,
        column: identifier,
        args: list(expression, 1),
        alias,
      }),
      join,
      match,
    ),
    pattern: fc.oneof(
      { ...bounds, withCrossShrink: true },
      node('variable', { name: identifier }),
      node('sequence', { parts: fc.array(pattern, { minLength: 2, maxLength: 3 }) }),
      node('alternation', { parts: fc.array(pattern, { minLength: 2, maxLength: 3 }) }),
      repeat,
    ),
    type: fc.oneof(
      { ...bounds, withCrossShrink: true },
      fc
        .constantFrom(...SIMPLE_TYPES)
        .map(([name, parameters]): TypeName => ({ tag: 'simple', name, parameters, span })),
      node('array', { element: type }),
      node('map', { key: type, value: type }),
      node('struct', { fields: list(structField, 1) }),
    ),
  };
});

function isBare(query: Omit<Query, 'tag'>): boolean {
  return (
    query.with.length === 0 &&
    query.orderBy.length === 0 &&
    query.limit === null &&
    query.offset === null
  );
}

const { expression, query, type } = tied;

const scalarOption: fc.Arbitrary<OptionValue> = fc.oneof(
  string,
  fc.tuple(fc.boolean(), numberText).map(([isNegative, digits]): OptionValue => ({
    tag: 'number',
    text: isNegative ? `-${digits}` : digits,
    span,
  })),
  boolean,
  interval,
  node('name', { name: identifier }),
);
const optionValue: fc.Arbitrary<OptionValue> = fc.oneof(
  scalarOption,
  node('array_option', { elements: list(scalarOption) }),
);
const optionKey = fc.oneof(
  fc.constantFrom(
    'connector',
    'type',
    'rolling_policy.interval',
    'select',
    'Mixed.Case',
    'a-b',
    '',
  ),
  text,
);
const option = fc
  .record({ key: optionKey, value: optionValue })
  .map((fields): TableOption => ({ ...fields, keySpan: span, span }));
const column = spanned(
  fc.record({
    name: identifier,
    type,
    notNull: fc.boolean(),
    primaryKey: fc.boolean(),
    defaultValue: optional(expression),
    generatedAs: optional(expression.filter((made) => made.tag !== 'call')),
    metadataFrom: optional(string),
  }),
);
const tableConstraint: fc.Arbitrary<TableConstraint> = fc.oneof(
  node('watermark', { column: identifier, expression: optional(expression) }),
  node('primary_key', { columns: list(identifier, 1) }),
);
const createTable = node('create_table', {
  name: identifier,
  ifNotExists: fc.boolean(),
  temporary: fc.boolean(),
  columns: optional(list(column)),
  constraints: list(tableConstraint),
  partitionedBy: list(expression),
  options: list(option),
}).map((table): Statement => (table.columns === null ? { ...table, constraints: [] } : table));
const createView = node('create_view', {
  spelling: fc.constantFrom('view' as const, 'table' as const),
  name: identifier,
  ifNotExists: fc.boolean(),
  columns: list(identifier),
  query,
}).map((view): Statement => (view.spelling === 'table' ? { ...view, columns: [] } : view));
const parameters = spanned(fc.record({ name: identifier, type }));
const createFunction = node('create_function', {
  kind: fc.constantFrom('scalar' as const, 'aggregate' as const),
  waits: fc.boolean(),
  name: identifier,
  parameters: list(parameters),
  returns: fc.oneof(
    fc.record({ tag: fc.constant('returns_value' as const), type }),
    fc.record({
      tag: fc.constant('returns_table' as const),
      columns: fc.array(parameters, { minLength: 1, maxLength: 3 }),
    }),
  ),
  language: identifier,
  volatility: fc.constantFrom('immutable' as const, 'stable' as const, 'volatile' as const, null),
  nullInput: fc.constantFrom('called' as const, 'null' as const, null),
  options: list(option),
  body: string,
});
const insert = node('insert', { table: identifier, columns: list(identifier), query });
const queryStatement = node('query_statement', { query });
const statement: fc.Arbitrary<Statement> = fc.oneof(
  createTable,
  createView,
  createFunction,
  insert,
  queryStatement,
  node('set', { key: optionKey, keySpan: fc.constant(span), value: optionValue }),
  node('explain', {
    mode: fc.constantFrom('logical' as const, 'physical' as const, null),
    statement: fc.oneof(insert, queryStatement) as fc.Arbitrary<Insert | QueryStatement>,
  }),
);

/** Operators over operators: what precedence has to get right. */
const operators = fc.letrec<{ operation: Expression }>((tie) => {
  const operation = tie('operation');
  const negated = fc.boolean();
  const depth = {
    depthIdentifier: fc.createDepthIdentifier(),
    depthSize: 'small',
    maxDepth: 7,
    withCrossShrink: true,
  } as const;
  const binaryOperators = Object.keys(BINARY_PRECEDENCE) as BinaryOperator[];
  const binary = node('binary', {
    operator: fc.constantFrom(...binaryOperators),
    operatorSpan: fc.constant(span),
    left: operation,
    right: operation,
  });
  const unary = node('unary', {
    operator: fc.constantFrom('-' as const, '+' as const, '~' as const, 'not' as const),
    operand: operation,
  });
  return {
    operation: fc.oneof(
      depth,
      fc.constantFrom('a', 'b').map((text): Expression => ({
        tag: 'path',
        parts: [{ name: text, quoted: false, text, span }],
        span,
      })),
      { weight: 4, arbitrary: binary },
      { weight: 2, arbitrary: unary },
      node('is', {
        operand: operation,
        test: fc.constantFrom('null' as const, 'true' as const),
        negated,
      }),
      node('is_distinct', { left: operation, right: operation, negated }),
      node('between', { operand: operation, low: operation, high: operation, negated }),
      node('like', {
        kind: fc.constant('like' as const),
        operand: operation,
        pattern: operation,
        escape: fc.constant(null),
        negated,
      }),
      node('in_list', { operand: operation, items: fc.tuple(operation), negated }),
      node('at_time_zone', { operand: operation, zone: operation }),
      node('subscript', { base: operation, index: operation }),
      node('slice', { base: operation, from: operation, to: operation }),
    ),
  };
});

export const operations: fc.Arbitrary<Expression> = operators.operation;
export const programs: fc.Arbitrary<Program> = fc
  .array(statement, { minLength: 1, maxLength: 3 })
  .map((statements) => ({ statements }));
export const expressions: fc.Arbitrary<Expression> = expression;
