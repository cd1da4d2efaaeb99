/** Fixes of texts that do not parse: a comma, a bracket or a quote too many or too few. */
import type { TextEdit } from '../../sql/places.ts';
import { type Fix, insert } from './edits.ts';
import type { Finding } from './finding.ts';
import { suggested } from './spelling.ts';

export function syntaxFixes(finding: Finding): Fix[] {
  const { message, suggestion, hint } = finding.report;
  const index = finding.tokenIndex(finding.span.start);
  const previous = finding.token(index - 1);
  if (finding.report.code === 'UNTERMINATED') return closed(finding);
  if (message.startsWith('unexpected character')) return straightQuotes(finding);
  if (suggestion === ';' && previous !== undefined)
    return [insert(previous.span.end, ';', 'Add ;')];
  if (suggestion !== undefined) return suggested(finding);
  if (previous === undefined) return [];
  if (previous.kind === 'symbol' && previous.text === ',')
    return [{ title: 'Remove the comma', edits: [{ span: previous.span, text: '' }] }];
  if (hint?.startsWith('put a comma') === true)
    return [insert(previous.span.end, ',', 'Add a comma')];
  const closing = /^expected "([)\]>])"/.exec(message)?.[1];
  return closing === undefined ? [] : [insert(previous.span.end, closing, `Add ${closing}`)];
}

/** What was opened is closed at the end of its line, a comment at the end of the text. */
function closed(finding: Finding): Fix[] {
  const closing = /^close it with (.+)$/.exec(finding.report.hint ?? '')?.[1];
  if (closing === undefined) return [];
  const { text } = finding.context;
  const { line } = finding.span.start;
  const lines = text.split('\n');
  const isLong = closing === '*/' || closing.startsWith('$');
  const target = isLong ? lines.length : line;
  const content = (lines[target - 1] ?? '').replace(/\s*[;\r]?\s*$/, '');
  const column = Array.from(isLong ? (lines[target - 1] ?? '') : content).length + 1;
  return [insert({ line: target, column }, closing, `Close it with ${closing}`)];
}

function straightQuotes(finding: Finding): Fix[] {
  const edits: TextEdit[] = [];
  finding.context.text.split('\n').forEach((content, index) => {
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
