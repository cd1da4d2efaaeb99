/** Errors for people: the line they are about, with the place marked. */
import type { ErrorReport } from '../base/errors.ts';

/** A line longer than this is cut around the place that matters. */
const WIDTH_MAX = 120;

/**
 * An error as text of several lines:
 *
 *     SYNTAX at 2:10: expected FROM, found "FORM"
 *       2 | SELECT a FORM t
 *         |          ^^^^
 *       hint: …
 *       try: FROM
 *
 * @param where  'excerpt': the first line leaves the place out, for callers that have said it
 */
export function formatReport(
  text: string,
  report: ErrorReport,
  where: 'everywhere' | 'excerpt' = 'everywhere',
): string {
  const { span } = report;
  const place =
    span === undefined || where === 'excerpt' ? '' : ` at ${span.start.line}:${span.start.column}`;
  const lines = [`${report.code}${place}: ${report.message}`];
  if (span !== undefined)
    lines.push(...excerptLines(text, span.start.line, span.start.column, endColumn(span)));
  if (report.detail !== undefined) lines.push(`  ${report.detail}`);
  if (report.hint !== undefined) lines.push(`  hint: ${report.hint}`);
  if (report.suggestion !== undefined) lines.push(`  try: ${report.suggestion}`);
  return lines.join('\n');
}

/** Where the marks end on the first line of the span; 0 when the span goes on behind that line. */
function endColumn(span: NonNullable<ErrorReport['span']>): number {
  return span.end.line === span.start.line ? span.end.column : 0;
}

function excerptLines(text: string, line: number, column: number, until: number): string[] {
  const points = Array.from((text.split('\n')[line - 1] ?? '').replace(/\r$/, ''));
  const from =
    points.length > WIDTH_MAX ? Math.max(0, Math.min(column - 41, points.length - WIDTH_MAX)) : 0;
  const shown = points.slice(from, from + WIDTH_MAX);
  const stop = until === 0 ? points.length + 1 : until;
  const markLength = Math.max(1, Math.min(stop, from + WIDTH_MAX + 1) - column);
  // Tabs stay tabs so that the marks stand under the text whatever the width of a tab.
  const padding = shown.slice(0, column - 1 - from).map((point) => (point === '\t' ? '\t' : ' '));
  const gutter = String(line);
  return [
    `  ${gutter} | ${shown.join('')}`,
    `  ${' '.repeat(gutter.length)} | ${padding.join('')}${'^'.repeat(markLength)}`,
  ];
}
