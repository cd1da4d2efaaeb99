/**
 * What can be done about a finding with a click: edits of the text, likeliest first.
 *
 * They are proposals, made from the finding and the text: whoever offers them tries them first (`graph/check-sql.ts`).
 * Failure behaviour: a finding nobody knows a fix for has none.
 */
import type { ErrorCode, ErrorReport } from '../base/errors.ts';
import type { Fix } from './fixes/edits.ts';
import { Finding, type FixContext } from './fixes/finding.ts';
import { newSink, qualified, stringInstead } from './fixes/names.ts';
import {
  changesFormat,
  missingOption,
  nearChoices,
  otherRole,
  withoutOption,
} from './fixes/options.ts';
import { grouped, nullTest, queryOfLast } from './fixes/queries.ts';
import { suggested } from './fixes/spelling.ts';
import { syntaxFixes } from './fixes/syntax.ts';
import { newWatermark, withoutWatermark } from './fixes/watermarks.ts';

type Finder = (finding: Finding) => Fix[];

/** What is tried for each code, in this order; for any other code what it suggests. */
const FINDERS: Partial<Record<ErrorCode, readonly Finder[]>> = {
  SYNTAX: [syntaxFixes],
  UNTERMINATED: [syntaxFixes],
  UNKNOWN_COLUMN: [suggested, stringInstead],
  UNKNOWN_TABLE: [suggested, newSink],
  AMBIGUOUS_COLUMN: [suggested, qualified],
  UNKNOWN_OPTION: [suggested, withoutOption],
  INVALID_OPTION: [suggested, nearChoices, withoutOption],
  MISSING_OPTION: [missingOption],
  INVALID_GROUPING: [grouped],
  MISSING_WATERMARK: [newWatermark],
  INVALID_WATERMARK: [withoutWatermark],
  INVALID_SINK: [otherRole, changesFormat],
  NULL_COMPARISON: [nullTest],
  NO_QUERY: [queryOfLast],
};

/** More help nobody. */
const FIXES_MAX = 4;

export function fixesFor(report: ErrorReport, context: FixContext): Fix[] {
  if (report.span === undefined) return [];
  const finding = new Finding(context, report, report.span);
  const seen = new Set<string>();
  return (FINDERS[report.code] ?? [suggested])
    .flatMap((finder) => finder(finding))
    .filter(({ edits }) => {
      const key = JSON.stringify(edits);
      return edits.length > 0 && !seen.has(key) && seen.add(key);
    })
    .slice(0, FIXES_MAX);
}
