/** Fixes of names that mean nothing, or more than one thing. */
import type { Select } from '../../sql/ast-query.ts';
import { quoteName } from '../name-text.ts';
import { type Fix, insert, replace, short } from './edits.ts';
import type { Finding } from './finding.ts';
import { samePlace } from './spans.ts';

/** `"abc"` is a name, and was meant as a string. */
export function stringInstead(finding: Finding): Fix[] {
  const token = finding.token(finding.tokenIndex(finding.span.start));
  if (token?.kind !== 'quoted' || !samePlace(token.span.start, finding.span.start)) return [];
  const text = `'${token.text.replaceAll("'", "''")}'`;
  return [replace(finding, token.span, text, `Write it as the string ${short(text)}`)];
}

export function newSink(finding: Finding): Fix[] {
  const statement = finding.context.program.statements.find(
    (each) => each.tag === 'insert' && samePlace(each.table.span.start, finding.span.start),
  );
  if (statement?.tag !== 'insert') return [];
  const { text, quoted, name } = statement.table;
  const written = quoted ? quoteName(name) : text;
  const options = [
    [
      'r2',
      `connector = 'r2', path = '${name.replaceAll("'", '')}', format = 'json', type = 'sink'`,
    ],
    ['stdout', "connector = 'stdout'"],
  ] as const;
  return options.map(([connector, given]) =>
    insert(
      statement.span.start,
      `CREATE TABLE ${written} WITH (${given});\n`,
      `Create ${written} as a sink of ${connector}`,
    ),
  );
}

export function qualified(finding: Finding): Fix[] {
  const select = finding.select();
  const written = finding.written(finding.span);
  if (select === null || written.includes('.')) return [];
  const names: string[] = [];
  const visit = (reference: Select['from'][number]): void => {
    if (reference.tag === 'join') {
      visit(reference.left);
      visit(reference.right);
    } else if (reference.alias !== null) names.push(reference.alias.name.text);
    else if (reference.tag === 'table') names.push(reference.name.text);
  };
  select.from.forEach(visit);
  return names.map((name) => replace(finding, finding.span, `${quoteName(name)}.${written}`));
}
