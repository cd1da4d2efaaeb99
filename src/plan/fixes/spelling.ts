/** The spelling that a finding suggests. */
import { type Fix, replace } from './edits.ts';
import type { Finding } from './finding.ts';
import { samePlace } from './spans.ts';

/** The nearest right spelling in the place of what was written. */
export function suggested(finding: Finding): Fix[] {
  const { suggestion } = finding.report;
  if (suggestion === undefined) return [];
  const token = finding.token(finding.tokenIndex(finding.span.start));
  const isString =
    token?.kind === 'string' &&
    samePlace(token.span.start, finding.span.start) &&
    samePlace(token.span.end, finding.span.end);
  const isQuoted = /^['"]/.test(suggestion);
  return [replace(finding, finding.span, isString && !isQuoted ? `'${suggestion}'` : suggestion)];
}
