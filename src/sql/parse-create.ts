/** CREATE TABLE and CREATE VIEW; parse-create-function.ts has CREATE FUNCTION. */
import type { Identifier } from './ast.ts';
import type { Expression, StringLiteral } from './ast-expression.ts';
import type { Query } from './ast-query.ts';
import type {
  ColumnDefinition,
  CreateTable,
  CreateView,
  Statement,
  TableConstraint,
  TableOption,
} from './ast-statement.ts';
import { atCreateFunction, parseCreateFunction } from './parse-create-function.ts';
import { forgiving, parenthesised } from './parse-list.ts';
import { parseTableOption } from './parse-option.ts';
import { parseType } from './parse-type.ts';
import type { TokenStream } from './token-stream.ts';

type Start = Statement['span']['start'];

export function parseCreate(stream: TokenStream): Statement {
  const { start } = stream.next().span;
  const temporary = stream.accept('temporary') || stream.accept('temp');
  if (stream.accept('table')) return parseCreateTable(stream, start, temporary);
  if (!temporary && stream.accept('view')) return parseCreateView(stream, start);
  if (!temporary && atCreateFunction(stream)) return parseCreateFunction(stream, start);
  if (stream.atWords('or', 'replace')) {
    stream.reject('UNSUPPORTED', 'OR REPLACE is not supported', {
      hint: 'a program defines each name once; leave OR REPLACE out',
      span: stream.peek().span,
    });
  }
  const choices = temporary ? ['TABLE'] : ['TABLE', 'VIEW', 'FUNCTION', 'TEMPORARY'];
  return stream.fail(temporary ? 'TABLE' : 'TABLE, VIEW or FUNCTION', choices);
}

function parseNewName(
  stream: TokenStream,
  what: string,
): { name: Identifier; ifNotExists: boolean } {
  const ifNotExists = stream.accept('if', 'not', 'exists');
  const name = stream.identifier(what, true);
  if (stream.atSymbol('.')) {
    stream.reject('UNSUPPORTED', 'tables have no schema or catalogue before their name', {
      hint: 'write the name alone, or in double quotes if the dot belongs to it',
      span: stream.spanFrom(name.span.start),
    });
  }
  return { name, ifNotExists };
}

/** What the parentheses of CREATE TABLE collect. */
type Definitions = { columns: ColumnDefinition[]; constraints: TableConstraint[] };

function parseCreateTable(
  stream: TokenStream,
  start: Start,
  temporary: boolean,
): CreateTable | CreateView {
  const { name, ifNotExists } = parseNewName(stream, 'the name of the table');
  const definitions: Definitions = { columns: [], constraints: [] };
  const hasList = stream.atSymbol('(');
  if (hasList) forgiving(stream, 'a column', () => parseDefinition(stream, definitions));
  let partitionedBy: readonly Expression[] = [];
  const options: TableOption[] = [];
  const seen = { partitioned: false, with: false };
  for (;;) {
    if (!seen.partitioned && stream.accept('partitioned')) {
      seen.partitioned = true;
      stream.expect('by');
      partitionedBy = parenthesised(stream, () => stream.parseExpression());
    } else if (!seen.with && stream.accept('with')) {
      seen.with = true;
      forgiving(stream, 'an option', () => options.push(parseTableOption(stream)));
    } else {
      break;
    }
  }
  if (stream.atWord('as')) {
    if (hasList || seen.with || seen.partitioned || temporary) {
      stream.reject('UNSUPPORTED', 'CREATE TABLE … AS takes neither columns nor options', {
        hint: 'create the table with them first and fill it with INSERT INTO … SELECT',
        span: stream.peek().span,
      });
    }
    const query = parseAsQuery(stream);
    return {
      tag: 'create_view',
      spelling: 'table',
      name,
      ifNotExists,
      columns: [],
      query,
      span: stream.spanFrom(start),
    };
  }
  const columns = hasList ? definitions.columns : null;
  const { constraints } = definitions;
  const span = stream.spanFrom(start);
  return {
    tag: 'create_table',
    name,
    ifNotExists,
    temporary,
    columns,
    constraints,
    partitionedBy,
    options,
    span,
  };
}

function parseAsQuery(stream: TokenStream): Query {
  stream.expect('as');
  return stream.parseQuery();
}

function parseDefinition(stream: TokenStream, into: Definitions): void {
  const { start } = stream.peek().span;
  if (stream.accept('watermark', 'for')) {
    const column = stream.identifier('a column', true);
    const expression = stream.accept('as') ? stream.parseExpression() : null;
    into.constraints.push({ tag: 'watermark', column, expression, span: stream.spanFrom(start) });
  } else if (stream.atWord('watermark') && stream.atWord('as', 2)) {
    stream.next();
    stream.expect('for');
  } else if (stream.accept('primary', 'key')) {
    const columns = parenthesised(stream, () => stream.identifier('a column', true));
    stream.accept('not', 'enforced');
    into.constraints.push({ tag: 'primary_key', columns, span: stream.spanFrom(start) });
  } else {
    refuseConstraint(stream);
    into.columns.push(parseColumn(stream));
  }
}

function refuseConstraint(stream: TokenStream): void {
  const isConstraint =
    stream.atWords('foreign', 'key') ||
    ((stream.atWord('unique') || stream.atWord('check')) && stream.atSymbol('(', 1)) ||
    (stream.atWord('constraint') &&
      ['primary', 'unique', 'check', 'foreign'].some((word) => stream.atWord(word, 2)));
  if (!isConstraint) return;
  stream.reject(
    'UNSUPPORTED',
    `the table constraint ${stream.peek().text.toUpperCase()} is not supported`,
    {
      hint: 'the constraints of a table are WATERMARK FOR and PRIMARY KEY',
      span: stream.peek().span,
    },
  );
}

const COLUMN_KEYWORDS = ['NOT', 'NULL', 'PRIMARY', 'DEFAULT', 'GENERATED', 'METADATA'];

function parseColumn(stream: TokenStream): ColumnDefinition {
  const { start } = stream.peek().span;
  if (stream.peek().kind === 'word' && stream.atWord('for', 1))
    stream.fail('WATERMARK FOR', ['WATERMARK']);
  const name = stream.identifier('the name of a column', true);
  const type = parseType(stream);
  const column = {
    notNull: false,
    primaryKey: false,
    defaultValue: null as Expression | null,
    generatedAs: null as Expression | null,
    metadataFrom: null as StringLiteral | null,
  };
  for (;;) {
    if (stream.accept('not')) {
      stream.expect('null');
      column.notNull = true;
    } else if (stream.accept('primary')) {
      stream.expect('key');
      column.primaryKey = true;
    } else if (stream.accept('default')) {
      column.defaultValue = stream.parseExpression();
    } else if (stream.accept('generated')) {
      const expression = parseGenerated(stream);
      const key = deprecatedMetadataKey(expression);
      if (key === null) column.generatedAs = expression;
      else column.metadataFrom = key;
    } else if (stream.accept('metadata')) {
      stream.expect('from');
      column.metadataFrom = parseString(stream, "the metadata's key as a string");
    } else if (!stream.accept('null')) {
      break;
    }
  }
  if (!stream.atSymbol(',') && !stream.atSymbol(')')) {
    const hint = stream.atEnd() ? undefined : 'put a comma before the next column or constraint';
    stream.fail('"," or ")"', COLUMN_KEYWORDS, hint);
  }
  return { name, type, ...column, span: stream.spanFrom(start) };
}

function parseGenerated(stream: TokenStream): Expression {
  stream.expectAll('always', 'as');
  stream.expectSymbol('(');
  const expression = stream.parseExpression();
  stream.expectSymbol(')');
  if (!stream.accept('stored')) stream.accept('virtual');
  return expression;
}

/** The key of the older spelling `GENERATED ALWAYS AS (metadata('key'))`. */
function deprecatedMetadataKey(expression: Expression): StringLiteral | null {
  if (
    expression.tag !== 'call' ||
    expression.name.name !== 'metadata' ||
    expression.args.length !== 1
  )
    return null;
  const value = expression.args[0]?.value;
  return value?.tag === 'string' ? value : null;
}

function parseString(stream: TokenStream, what: string): StringLiteral {
  const token = stream.peek();
  if (token.kind !== 'string') stream.fail(what);
  stream.next();
  return { tag: 'string', value: token.text, span: token.span };
}

function parseCreateView(stream: TokenStream, start: Start): CreateView {
  const { name, ifNotExists } = parseNewName(stream, 'the name of the view');
  const columns = stream.atSymbol('(')
    ? parenthesised(stream, () => stream.identifier('a column', true))
    : [];
  const query = parseAsQuery(stream);
  return {
    tag: 'create_view',
    spelling: 'view',
    name,
    ifNotExists,
    columns,
    query,
    span: stream.spanFrom(start),
  };
}
