/** Fixes of watermarks: one that is missing, one that can not be. */
import { addDefinition, type Fix } from './edits.ts';
import type { Finding } from './finding.ts';
import { suggested } from './spelling.ts';

export function newWatermark(finding: Finding): Fix[] {
  const { suggestion } = finding.report;
  const table = finding.tableMeant();
  if (table === null || table.constraints.some(({ tag }) => tag === 'watermark')) return [];
  const times = (table.columns ?? []).filter(
    ({ type }) => type.tag === 'simple' && type.name.startsWith('timestamp'),
  );
  const given = suggestion?.startsWith('WATERMARK FOR') === true ? [suggestion] : [];
  const made = times.map(({ name }) => {
    const column = finding.written(name.span);
    return `WATERMARK FOR ${column} AS ${column} - INTERVAL '5 seconds'`;
  });
  return [...given, ...made].flatMap((element) => addDefinition(table, element));
}

/** A constraint with the comma before it. */
export function withoutWatermark(finding: Finding): Fix[] {
  const index = finding.tokenIndex(finding.span.start);
  const previous = finding.token(index - 1);
  const isConstraint = /^\s*watermark\b/i.test(finding.written(finding.span));
  if (previous?.text !== ',' || !isConstraint) return suggested(finding);
  const span = { start: previous.span.start, end: finding.span.end };
  return [{ title: 'Remove the watermark', edits: [{ span, text: '' }] }];
}
