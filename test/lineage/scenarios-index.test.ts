/** Each scenario of the list has a test that bears its number, and so has each crash point of the leader. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const TESTS = join(import.meta.dirname, '..');

/** Texts that name a test or a group of tests: the first string after `test(`, `describe(` or `test.each(…)(`. */
function titles(): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(TESTS, { recursive: true, encoding: 'utf8' })) {
    if (!entry.endsWith('.ts') || entry.endsWith('scenarios-index.test.ts')) continue;
    const text = readFileSync(join(TESTS, entry), 'utf8');
    for (const [, title = ''] of text.matchAll(
      /^\s*(?:(?:test|it|describe)(?:\.each)?\(|\]?\)?\(|\[)?\s*['"`]((?:scenario )?\d+[a-d]?(?:,| and|:).*|crash point \d+.*)/gm,
    ))
      found.push(title);
  }
  return found;
}

/** `scenario 2d and scenario 6: …` and `24: …` name scenarios 2, 6 and 24. */
function numbersOf(title: string): number[] {
  const head = title.slice(0, title.indexOf(':'));
  return [...head.matchAll(/(?:^|scenario )(\d+)[a-d]?/g)].map(([, number]) => Number(number));
}

test('scenarios 1 to 50 are tests', () => {
  const named = new Set(titles().flatMap(numbersOf));
  const missing = Array.from({ length: 50 }, (_, index) => index + 1).filter(
    (each) => !named.has(each),
  );
  expect(missing).toEqual([]);
});

test('the crash points of the leader are tests', () => {
  const named = new Set(
    titles().flatMap((title) =>
      [...title.matchAll(/^crash point (\d+)/g)].map(([, each]) => Number(each)),
    ),
  );
  // The list has no fifth.
  expect([...named].toSorted((left, right) => left - right)).toEqual([
    1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12,
  ]);
});
