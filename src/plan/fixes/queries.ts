/** Fixes within queries: what is grouped by, tests for NULL, and a query where there is none. */
import type { Position } from '../../base/errors.ts';
import type { BinaryExpression } from '../../sql/ast-expression.ts';
import type { Select } from '../../sql/ast-query.ts';
import type { Token } from '../../sql/lexer.ts';
import { type Fix, insert, replace, short } from './edits.ts';
import type { Finding } from './finding.ts';
import { at, samePlace } from './spans.ts';
import { eachNode } from './tree.ts';

const BEHIND_GROUP_BY = new Set(
  'having qualify window order limit offset fetch union except intersect'.split(' '),
);

export function grouped(finding: Finding): Fix[] {
  const select = finding.select();
  if (select === null || !finding.report.message.includes('must appear in GROUP BY')) return [];
  const column = finding.written(finding.span);
  const place = clauseEnd(finding, select);
  const taken = replace(finding, finding.span, `max(${column})`, `Take max(${short(column)})`);
  if (place === null) return [taken];
  const text = select.groupBy.length > 0 ? `, ${column}` : `\nGROUP BY ${column}`;
  return [insert(place, text, `Add ${short(column)} to GROUP BY`), taken];
}

/** Where the GROUP BY of a SELECT ends, or would. */
function clauseEnd(finding: Finding, select: Select): Position | null {
  const first = finding.tokenIndex(select.span.start);
  const depth = finding.token(first)?.depth ?? 0;
  // Names and aliases ahead of it may be words that begin a clause, such as window.
  const known = [...select.items, ...select.from, select.where, ...select.groupBy].findLast(
    (each) => each !== null,
  );
  const behind = known === undefined ? first + 1 : finding.tokenIndex(known.span.end);
  for (let index = behind; index < finding.context.tokens.length; index++) {
    const token = finding.token(index) as Token;
    const isHere = token.depth === depth && token.kind === 'word';
    const isEnd =
      token.depth < depth ||
      token.kind === 'end' ||
      token.text === ';' ||
      (token.depth === depth && token.kind === 'symbol' && token.text === ')' && depth > 0) ||
      (isHere && BEHIND_GROUP_BY.has(token.text));
    if (isEnd) return finding.token(index - 1)?.span.end ?? null;
  }
  return null;
}

export function nullTest(finding: Finding): Fix[] {
  const fixes: Fix[] = [];
  eachNode(finding.context.program, (node) => {
    if (node['tag'] !== 'binary') return;
    const { span, left, right, operator } = node as unknown as BinaryExpression;
    if (!samePlace(span.start, finding.span.start) || !samePlace(span.end, finding.span.end))
      return;
    const tested = right.tag === 'null' ? left : right;
    const test = operator === '=' ? 'IS NULL' : 'IS NOT NULL';
    fixes.push(replace(finding, span, `${finding.written(tested.span)} ${test}`));
  });
  return fixes;
}

/** A query of the last table, so that there is something to run. */
export function queryOfLast(finding: Finding): Fix[] {
  const last = finding.context.program.statements.findLast(
    (statement) => statement.tag === 'create_table' || statement.tag === 'create_view',
  );
  if (last?.tag !== 'create_table' && last?.tag !== 'create_view') return [];
  const name = finding.written(last.name.span);
  const { tokens } = finding.context;
  const end = tokens.at(-1)?.span.end ?? finding.span.end;
  const before = tokens.at(-2);
  const semicolon =
    before === undefined || before.text === ';' ? [] : [{ span: at(before.span.end), text: ';' }];
  const edits = [...semicolon, { span: at(end), text: `\nSELECT * FROM ${name};\n` }];
  return [{ title: `Add SELECT * FROM ${name}`, edits }];
}
