/** Flink's `TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))`, with and without the outer TABLE. */
import type { TableAlias, WindowedTable } from './ast-query.ts';
import { separated } from './parse-list.ts';
import type { TokenStream } from './token-stream.ts';

/** Whether the windows of a table begin here. */
export const atWindowedTable = (stream: TokenStream): boolean =>
  stream.atWord('table')
    ? stream.atSymbol('(', 1)
    : stream.atSymbol('(', 1) && stream.atWord('table', 2);

export function parseWindowedTable(
  stream: TokenStream,
  parseAlias: (stream: TokenStream) => TableAlias | null,
): WindowedTable {
  const { start } = stream.peek().span;
  const outer = stream.accept('table');
  if (outer) stream.expectSymbol('(');
  const name = stream.identifier('the function of a window', true);
  stream.expectSymbol('(');
  stream.expect('table');
  const table = stream.identifier('a table');
  stream.expectSymbol(',');
  stream.expect('descriptor');
  stream.expectSymbol('(');
  const column = stream.identifier('the column of event time', true);
  stream.expectSymbol(')');
  stream.expectSymbol(',');
  const args = separated(stream, () => stream.parseExpression());
  stream.expectSymbol(')');
  if (outer) stream.expectSymbol(')');
  const span = stream.spanFrom(start);
  return { tag: 'windowed', name, table, column, args, alias: parseAlias(stream), span };
}
