/** ORDER BY, wherever it stands. */
import type { OrderItem } from './ast-query.ts';
import { separated } from './parse-list.ts';
import type { TokenStream } from './token-stream.ts';

/** Empty when there is no ORDER BY at the cursor. */
export function parseOrderBy(stream: TokenStream): readonly OrderItem[] {
  if (!stream.accept('order')) return [];
  stream.expect('by');
  return separated(stream, () => parseOrderItem(stream));
}

function parseOrderItem(stream: TokenStream): OrderItem {
  const { start } = stream.peek().span;
  const expression = stream.parseExpression();
  const descending = stream.accept('desc');
  if (!descending) stream.accept('asc');
  let nulls: 'first' | 'last' | null = null;
  if (stream.accept('nulls')) {
    if (!stream.atWord('first') && !stream.atWord('last'))
      stream.fail('FIRST or LAST', ['FIRST', 'LAST']);
    nulls = stream.next().text as 'first' | 'last';
  }
  return { expression, descending, nulls, span: stream.spanFrom(start) };
}
