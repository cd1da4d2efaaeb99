/** Our dialect for the highlighter: the words are those that the server knows. */
import { SQLDialect } from '@codemirror/lang-sql';
import type { Extension } from '@codemirror/state';
import type { Completions } from '../../../api/authoring/authoring-shapes.ts';

/** Until the catalogue has come, so that a text is not grey at first. */
const FIRST_KEYWORDS =
  'select from where group by having order limit as and or not in is null between like case when then else end ' +
  'create table view temporary function returns language with watermark for primary key insert into values join left ' +
  'right full inner outer cross on using union all distinct over partition interval set explain cast true false';
const FIRST_TYPES =
  'bigint int integer smallint tinyint double real float decimal numeric text varchar string boolean timestamp date time json bytea interval';

const words = (list: readonly string[]): string =>
  list.filter((word) => /^\w+$/.test(word)).join(' ');

export function sqlLanguage({ keywords, types, functions }: Completions): Extension {
  const called = functions.filter(({ kind }) => kind !== 'operator').map(({ name }) => name);
  return SQLDialect.define({
    keywords: `${FIRST_KEYWORDS} ${words(keywords)}`.toLowerCase(),
    types: `${FIRST_TYPES} ${words(types.map(({ name }) => name))}`.toLowerCase(),
    builtin: words(called),
    doubleDollarQuotedStrings: true,
    caseInsensitiveIdentifiers: true,
  }).extension;
}
