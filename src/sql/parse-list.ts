/** Lists, with and without a way to go on after a broken element. */
import { REPORTS_MAX } from './lexer.ts';
import type { TokenStream } from './token-stream.ts';

/** One or more elements with commas between them. */
export function separated<T>(stream: TokenStream, element: () => T): readonly T[] {
  const elements = [element()];
  while (stream.acceptSymbol(',')) elements.push(element());
  return elements;
}

/** One or more elements in parentheses. */
export function parenthesised<T>(stream: TokenStream, element: () => T): readonly T[] {
  stream.expectSymbol('(');
  const elements = separated(stream, element);
  stream.expectSymbol(')');
  return elements;
}

/**
 * Elements in parentheses, where a broken one is reported and left out and the next one parsed, so that
 * one pass reports what is wrong with each of them. `what` names an element in messages.
 */
export function forgiving(stream: TokenStream, what: string, element: () => void): void {
  stream.expectSymbol('(');
  const { depth } = stream.peek();
  if (stream.acceptSymbol(')')) return;
  for (;;) {
    const outcome = stream.attempt(() => {
      if (stream.atSymbol(')')) stream.fail(what, [], 'remove the comma before it');
      element();
      if (!stream.atSymbol(',') && !stream.atSymbol(')')) stream.fail('"," or ")"');
    });
    if ('failure' in outcome && stream.reports.length >= REPORTS_MAX) throw outcome.failure;
    if ('failure' in outcome) stream.skipTo([',', ')'], depth, outcome.failure.angleDepth);
    if (stream.acceptSymbol(',')) continue;
    if (stream.acceptSymbol(')')) return;
    // The list does not end; if that was not the failure itself, it is a new one.
    if ('failure' in outcome) throw outcome.failure;
    stream.fail('")"');
  }
}
