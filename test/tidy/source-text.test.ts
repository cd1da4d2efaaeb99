import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { projectFiles } from '../harness/project-files.ts';
import { importsOf, maskSource } from '../harness/source-text.ts';

describe('masking of source text', () => {
  const blanks: [string, string, string][] = [
    ['a line comment', 'a; // Date\nb', 'a;        \nb'],
    ['a block comment over lines', 'a /* x\n Date */ b', 'a     \n         b'],
    ['a string with an escaped quote', "a = 'it\\'s Date'; b", "a = '          '; b"],
    ['a comment sign inside a string', "a = '// no'; b", "a = '     '; b"],
    ['a template without its code', '`x ${Date} y`;', '`  ${Date}  `;'],
    [
      'braces and templates inside a template',
      '`a${f({x: `b${c}d`})}e` + g',
      '` ${f({x: ` ${c} `})} ` + g',
    ],
    [
      'a regular expression with a quote and a class',
      "r = /['/]Date/g; 'x'",
      "r = /        /g; ' '",
    ],
    ['no division', 'a / b / c; // d', 'a / b / c;     '],
    ['a regular expression after return', 'return /Date/;', 'return /    /;'],
  ];
  test.each(blanks)('blanks %s', (_, text, code) => {
    expect(maskSource(text).code).toBe(code);
  });

  test('keeps strings where asked, but never comments', () => {
    expect(maskSource("import 'a'; // 'b'").withStrings).toBe("import 'a';       ");
  });

  test('keeps length and line breaks of any text', () => {
    const pieces = fc.constantFrom(
      "'",
      '"',
      '`',
      '/',
      '*',
      '\n',
      '\\',
      '${',
      '}',
      '{',
      '[',
      ']',
      'a',
      ' ',
      '(',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        const text = parts.join('');
        const { code, withStrings } = maskSource(text);
        expect(code.length).toBe(text.length);
        expect(withStrings.length).toBe(text.length);
        expect(code.replace(/[^\n]/g, '')).toBe(text.replace(/[^\n]/g, ''));
      }),
      { seed: 20_261_129, numRuns: 2000 },
    );
  });

  test('leaves the brackets of every file of the project in balance', () => {
    const files = projectFiles(['src', 'durable-objects', 'test', 'scripts'], /\.ts$/);
    expect(files.length).toBeGreaterThan(10);
    for (const { path, text } of files) {
      const { code } = maskSource(text);
      for (const [open, close] of ['()', '{}']) {
        expect(`${path} ${open} ${code.split(open as string).length}`).toBe(
          `${path} ${open} ${code.split(close as string).length}`,
        );
      }
    }
  });
});

describe('finding imports', () => {
  test('sees every form and nothing in comments or strings', () => {
    const text = [
      "import { a } from './a.ts';",
      "import type { B } from '../b/b.ts';",
      "import './c.ts';",
      "export { d } from './d.ts';",
      "const e = await import('./e.ts');",
      "type F = import('./f.ts').F;",
      "// import { g } from './g.ts';",
      'const h = "import \'./h.ts\'";',
      'import {',
      '  i,',
      "} from './i.ts';",
    ].join('\n');
    expect(importsOf(text)).toEqual([
      { specifier: './a.ts', line: 1, typesOnly: false },
      { specifier: '../b/b.ts', line: 2, typesOnly: true },
      { specifier: './c.ts', line: 3, typesOnly: false },
      { specifier: './d.ts', line: 4, typesOnly: false },
      { specifier: './e.ts', line: 5, typesOnly: false },
      { specifier: './f.ts', line: 6, typesOnly: false },
      { specifier: './i.ts', line: 11, typesOnly: false },
    ]);
  });
});
