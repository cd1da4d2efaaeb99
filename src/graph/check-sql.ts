/**
 * A query checked for its author: the plan, and with each finding the edits that remove it.
 *
 * Every fix was tried: the text with it was planned, the finding was gone, no more was wrong with the syntax, and no other
 * error had come instead (behind a fix of the syntax those of the statement that is read now may). How often that is done is bounded by the length of the text, so that the whole stays within what one pause in typing allows.
 */
import type { ErrorReport } from '../base/errors.ts';
import { LIMITS } from '../base/limits.ts';
import type { ConnectorDeclaration } from '../plan/declaration.ts';
import { fixesFor } from '../plan/fixes.ts';
import type { Fix } from '../plan/fixes/edits.ts';
import { tokenize } from '../sql/lexer.ts';
import { parseProgram } from '../sql/parser.ts';
import { applyEdits } from '../sql/places.ts';
import { type PlanSqlOptions, type SqlPlan, planSql } from './plan-sql.ts';

export type Diagnostic = ErrorReport & { fixes?: Fix[] };

/** `more`: errors and warnings beyond those told. */
export type Findings = { errors: Diagnostic[]; warnings: Diagnostic[]; more: number };

type Reports = Pick<SqlPlan, 'errors' | 'warnings'>;

/** Characters planned for trying fixes, over all of them, and how many are tried at most. */
const TRIED_CHARACTERS_MAX = 60_000;
const TRIED_MAX = 16;

const same = (left: ErrorReport, right: ErrorReport): boolean =>
  left.code === right.code && left.message === right.message;

/** Whether the finding is gone, or is there less often, and no error is there that was not there before. */
function isBetter(before: Reports, after: Reports, finding: ErrorReport): boolean {
  const count = ({ errors, warnings }: Reports, report: ErrorReport): number =>
    [...errors, ...warnings].filter((each) => same(each, report)).length;
  if (count(after, finding) >= count(before, finding)) return false;
  // What a statement says is found only when it can be read: a fix of its syntax is not to blame for that.
  if (finding.code === 'SYNTAX' || finding.code === 'UNTERMINATED') return true;
  return after.errors.every((each) => count(after, each) <= count(before, each));
}

/** The findings of a plan with their fixes, as many as anybody reads. */
export function withFixes(
  text: string,
  plan: Pick<SqlPlan, 'errors' | 'warnings'>,
  connectors: readonly ConnectorDeclaration[],
  options: PlanSqlOptions,
): Findings {
  const all = [...plan.errors, ...plan.warnings];
  const errors = plan.errors.slice(0, LIMITS.findingsToldMax);
  const warnings = plan.warnings.slice(0, LIMITS.findingsToldMax);
  const more = all.length - errors.length - warnings.length;
  let left = Math.min(TRIED_MAX, Math.floor(TRIED_CHARACTERS_MAX / (text.length + 500)));
  if (all.length === 0 || left === 0) return { errors, warnings, more };
  const { program, damaged, errors: unread } = parseProgram(text);
  const context = {
    text,
    tokens: tokenize(text).tokens,
    program: { statements: [...program.statements, ...damaged] },
    connectors,
  };
  const works = (report: ErrorReport, fix: Fix): boolean => {
    left--;
    const edited = applyEdits(text, fix.edits);
    // A finding is gone as well when its statement is not read any more.
    if (parseProgram(edited).errors.length > unread.length) return false;
    const fixed = planSql(edited, connectors, options);
    return isBetter(plan, fixed, report);
  };
  const fixed = (report: ErrorReport): Diagnostic => {
    if (left === 0) return report;
    const fixes = fixesFor(report, context).filter((fix) => left > 0 && works(report, fix));
    return fixes.length === 0 ? report : { ...report, fixes };
  };
  return { errors: errors.map(fixed), warnings: warnings.map(fixed), more };
}
