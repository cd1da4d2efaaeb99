/** Texts in batches: what choices, hidden rows, split fields and letters give is what each row alone gives. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BOOLEAN, INT64, TEXT, type SqlType } from '../../src/batch/types.ts';
import type { Value } from '../../src/batch/values.ts';
import type { Expr } from '../../src/expr/expr.ts';
import { TextChoices } from '../../src/expr/text-choices.ts';
import { call, column, literal, or, run } from './support.ts';

const SEED = 20261130;
const encoder = new TextEncoder();
const text = (value: string | null): Expr => literal(TEXT, value);
const input = column(0, TEXT);

const word = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'A',
    'b',
    'apple',
    'Apple',
    'google',
    'channel-12',
    'channel-13',
    'é',
    'Straße',
  ),
  fc
    .array(fc.constantFrom('a', 'b', '/', '&', 'É', '😀', '='), { maxLength: 6 })
    .map((parts) => parts.join('')),
);
const maybe = fc.option(word, { nil: null, freq: 5 });
const rowsOf = (value: fc.Arbitrary<string | null>): fc.Arbitrary<(string | null)[]> =>
  fc.array(value, { minLength: 1, maxLength: 40 });

/** The values of a batch, and that no row failed. */
function batchOf(expr: Expr, texts: readonly Value[]): Value[] {
  const { values, errors } = run(expr, [TEXT, texts]);
  expect(errors).toEqual([]);
  return values;
}

/** As `batchOf`, a batch for each row. */
const alone = (expr: Expr, texts: readonly Value[]): Value[] =>
  texts.map((value) => batchOf(expr, [value])[0] as Value);

describe('choices of texts', () => {
  it('find the first choice that equals a text, whatever bytes tell them apart', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            word,
            fc.nat(50).map((n) => `user-0${n}-of-many`),
          ),
          { maxLength: 60 },
        ),
        word,
        (texts, other) => {
          const choices = new TextChoices(texts.map((each) => encoder.encode(each)));
          for (const each of [...texts, other, 'user-051-of-many']) {
            const bytes = encoder.encode(`<${each}>`);
            expect(choices.find(bytes, 1, bytes.length - 1)).toBe(texts.indexOf(each));
          }
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('IN finds texts as equality does, and is NULL where only NULL could be it', () => {
    fc.assert(
      fc.property(rowsOf(maybe), fc.array(maybe, { minLength: 1, maxLength: 7 }), (texts, list) => {
        const expected = texts.map((value) => {
          if (value === null) return null;
          if (list.includes(value)) return true;
          return list.includes(null) ? null : false;
        });
        expect(batchOf(call('in', input, ...list.map(text)), texts)).toEqual(expected);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('CASE takes the first branch whose text it is, wherever other conditions stand', () => {
    const branch = fc.record({ text: word, gives: fc.option(word, { nil: undefined }) });
    fc.assert(
      fc.property(
        rowsOf(maybe),
        fc.array(branch, { minLength: 2, maxLength: 6 }),
        fc.boolean(),
        fc.boolean(),
        (texts, branches, endsElse, hasOther) => {
          const lower = call('lower', input);
          const cases = branches.map(({ text: wanted, gives }) => ({
            when: call('=', lower, text(wanted)),
            then: gives === undefined ? call('upper', input) : text(gives),
          }));
          const other = { when: call('is null', input), then: text('nothing') };
          const expr: Expr = {
            tag: 'case',
            branches: hasOther ? [...cases, other] : cases,
            otherwise: endsElse ? call('regexp_replace', input, text('a+'), text('<a>')) : null,
            type: TEXT,
          };
          const expected = texts.map((value) => {
            const found = branches.find((each) => each.text === value?.toLowerCase());
            if (found !== undefined) return found.gives ?? (value as string).toUpperCase();
            if (hasOther && value === null) return 'nothing';
            return endsElse && value !== null ? value.replace(/a+/u, '<a>') : null;
          });
          expect(batchOf(expr, texts)).toEqual(expected);
        },
      ),
      { seed: SEED, numRuns: 400 },
    );
  });
});

describe('rows that nobody asks for', () => {
  it('are left out of a CASE and of OR without a change to the others', () => {
    const matches = call('like', input, text('%a%b%'));
    const digits = call('regexp_extract', input, text('(&|^)a=([^&]*)'), literal(INT64, '2'));
    const expr: Expr = {
      tag: 'case',
      branches: [
        {
          when: or(call('=', input, text('a')), matches),
          then: call('split_part', input, text('/'), literal(INT64, '2')),
        },
        { when: call('like', input, text('%&%')), then: digits },
      ],
      otherwise: call('replace', input, text('a'), text('')),
      type: TEXT,
    };
    const condition = or(call('in', call('lower', input), text('a'), text('apple')), matches);
    fc.assert(
      fc.property(rowsOf(maybe), (texts) => {
        const expected = texts.map((value) => {
          if (value === null) return null;
          if (value === 'a' || /a.*b/u.test(value)) return value.split('/')[1] ?? '';
          if (value.includes('&')) return /(?:&|^)a=([^&]*)/u.exec(value)?.[1] ?? null;
          return value.replaceAll('a', '');
        });
        expect(batchOf(expr, texts)).toEqual(expected);
        expect(batchOf(condition, texts)).toEqual(
          texts.map((value) =>
            value === null
              ? null
              : ['a', 'apple'].includes(value.toLowerCase()) || /a.*b/u.test(value),
          ),
        );
      }),
      { seed: SEED, numRuns: 500 },
    );
  });
});

describe('functions of texts', () => {
  it('split_part gives each field, one after the other and in any order', () => {
    const field = fc.integer({ min: 1, max: 5 });
    fc.assert(
      fc.property(
        rowsOf(maybe),
        fc.array(field, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('/', '&', 'a=', 'É'),
        (texts, fields, sign) => {
          const parts = fields.map((at) =>
            call('split_part', input, text(sign), literal(INT64, String(at))),
          );
          const expected = texts.map((value) =>
            value === null ? null : fields.map((at) => value.split(sign)[at - 1] ?? '').join('|'),
          );
          const joined = parts.reduce((left, right) =>
            call('||', call('||', left, text('|')), right),
          );
          expect(batchOf(joined, texts)).toEqual(expected);
          for (const part of parts) expect(batchOf(part, texts)).toEqual(alone(part, texts));
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('letters change case beside characters that are not ASCII, and whatever lies next to them', () => {
    const any = fc.oneof(
      word,
      fc.string({
        unit: fc.constantFrom('@', 'A', 'Z', '[', '`', 'a', 'z', '{', '\u007f', 'É', 'ß'),
      }),
    );
    fc.assert(
      fc.property(rowsOf(fc.option(any, { nil: null, freq: 5 })), (texts) => {
        expect(batchOf(call('lower', input), texts)).toEqual(
          texts.map((value) => value?.toLowerCase() ?? null),
        );
        expect(batchOf(call('upper', input), texts)).toEqual(
          texts.map((value) => value?.toUpperCase() ?? null),
        );
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('an element of a match is the group, in batches and alone', () => {
    const list = (pattern: string, at: number): Expr =>
      call('array_element', call('regexp_match', input, text(pattern)), literal(INT64, String(at)));
    const patterns = ['(&|^)a=([^&]*)', 'a+', '(a)|(b)', '((a|b)+)=(.*)'];
    fc.assert(
      fc.property(
        rowsOf(maybe),
        fc.constantFrom(...patterns),
        fc.integer({ min: -1, max: 4 }),
        (texts, pattern, at) => {
          const expected = texts.map((value) => {
            const found = value === null ? null : new RegExp(pattern, 'u').exec(value);
            const groups = found?.length === 1 ? [...found] : found?.slice(1);
            return groups?.[at - 1] ?? null;
          });
          expect(batchOf(list(pattern, at), texts)).toEqual(expected);
        },
      ),
      { seed: SEED, numRuns: 400 },
    );
  });

  it('a branch not taken fails no row, though its function skips NULLs', () => {
    const inputs: [SqlType, Value[]][] = [
      [TEXT, ['1', 'x', null, '2']],
      [BOOLEAN, [true, false, true, true]],
    ];
    const expr: Expr = {
      tag: 'case',
      branches: [
        {
          when: column(1, BOOLEAN),
          then: call('split_part', input, text('/'), {
            tag: 'cast',
            input,
            orNull: false,
            type: INT64,
          }),
        },
      ],
      otherwise: text('other'),
      type: TEXT,
    };
    expect(run(expr, ...inputs)).toMatchObject({ values: ['1', 'other', null, ''], errors: [] });
  });
});
