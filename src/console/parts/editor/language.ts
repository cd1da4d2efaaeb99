/** Our dialect for the highlighter: the words are those that the server knows. */
import { javascriptLanguage, typescriptLanguage } from '@codemirror/lang-javascript';
import { SQLDialect } from '@codemirror/lang-sql';
import { LanguageSupport } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { parseMixed } from '@lezer/common';
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

/** How far before a body its LANGUAGE may stand. */
const HEAD_CHARACTERS = 400;
const FENCE = '$$';

/** The code of a function between its dollars, in the language that the declaration before it names. */
const bodies = parseMixed((node, input) => {
  if (node.name !== 'String' || input.read(node.from, node.from + FENCE.length) !== FENCE)
    return null;
  const head = input.read(Math.max(0, node.from - HEAD_CHARACTERS), node.from);
  const language = /\bLANGUAGE\s+(javascript|typescript)\s+AS\s*$/i.exec(head)?.[1];
  if (language === undefined) return null;
  const { parser } =
    language.toLowerCase() === 'javascript' ? javascriptLanguage : typescriptLanguage;
  const end = input.read(node.to - FENCE.length, node.to) === FENCE ? FENCE.length : 0;
  const from = node.from + FENCE.length;
  const to = Math.max(from, node.to - end);
  return from === to ? null : { parser, overlay: [{ from, to }] };
});

export function sqlLanguage({ keywords, types, functions }: Completions): Extension {
  const called = functions.filter(({ kind }) => kind !== 'operator').map(({ name }) => name);
  const { language } = SQLDialect.define({
    keywords: `${FIRST_KEYWORDS} ${words(keywords)}`.toLowerCase(),
    types: `${FIRST_TYPES} ${words(types.map(({ name }) => name))}`.toLowerCase(),
    builtin: words(called),
    doubleDollarQuotedStrings: true,
    caseInsensitiveIdentifiers: true,
  });
  return new LanguageSupport(language.configure({ wrap: bodies }));
}
