import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editDistance, nearest } from '../../src/base/nearest.ts';

test('a slip of one letter finds the word', () => {
  const words = ['SELECT', 'FROM', 'WHERE', 'GROUP'];
  expect(nearest('SELCT', words)).toBe('SELECT');
  expect(nearest('form', words)).toBe('FROM');
  expect(nearest('WEHRE', words)).toBe('WHERE');
  expect(nearest('groupp', words)).toBe('GROUP');
});

test('a word that is far from all of them finds none', () => {
  expect(nearest('customer', ['SELECT', 'FROM'])).toBeNull();
  expect(nearest('a', ['b'])).toBeNull();
  expect(nearest('', ['b'])).toBeNull();
  expect(nearest('x'.repeat(1000), ['x'.repeat(1000)])).toBeNull();
});

test('of two equally near words the first wins', () => {
  expect(nearest('amounts', ['amountx', 'amounty'])).toBe('amountx');
});

test('the distance is a metric on short words and at most the longer length', () => {
  const word = fc.string({ maxLength: 6, unit: fc.constantFrom('a', 'b', 'c') });
  fc.assert(
    fc.property(word, word, (left, right) => {
      const distance = editDistance(left, right);
      expect(distance).toBe(editDistance(right, left));
      expect(distance === 0).toBe(left === right);
      expect(distance).toBeLessThanOrEqual(Math.max(left.length, right.length));
      expect(distance).toBeGreaterThanOrEqual(Math.abs(left.length - right.length));
    }),
  );
});

test('one random edit is a distance of at most one', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 2 }),
      fc.nat(),
      fc.constantFrom('drop', 'insert', 'swap'),
      (word, place, edit) => {
        const at = place % (word.length - 1);
        const [left, right] = [word.slice(0, at), word.slice(at + 2)];
        const [first, second] = [word.charAt(at), word.charAt(at + 1)];
        const middle = { drop: second, insert: `${first}?${second}`, swap: second + first }[edit];
        expect(editDistance(word, left + middle + right)).toBeLessThanOrEqual(1);
      },
    ),
  );
});
