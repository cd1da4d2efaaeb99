/** round(DECIMAL, n) kept the precision of its argument: 99999999.99 rounded to one place was an error of its row. */
import { expect, test } from 'vitest';
import { batchFromRows, valueAt } from '../../src/batch/values.ts';
import { decimalType, INT64 } from '../../src/batch/types.ts';
import { compileExpr } from '../../src/expr/compile.ts';
import { resolveFunction } from '../../src/expr/registry.ts';
import { RowErrors } from '../../src/expr/row-errors.ts';

test('rounding may carry into a place that the argument had not', () => {
  const type = decimalType(10, 2);
  const resolved = resolveFunction('round', [type, INT64]);
  if (!('fn' in resolved)) throw new Error('round is missing');
  expect(resolved.type).toEqual(decimalType(11, 2));
  const schema = [{ name: 'x', type, nullable: false }];
  const batch = batchFromRows(schema, [{ x: '99999999.99' }, { x: '-99999999.95' }, { x: '1.24' }]);
  const round = compileExpr({
    tag: 'call',
    fn: resolved.fn,
    args: [
      { tag: 'column', index: 0, type },
      { tag: 'literal', value: '1', type: INT64 },
    ],
    type: resolved.type,
  });
  const errors = new RowErrors(batch.rows);
  const column = round(batch, errors);
  expect(errors.list).toEqual([]);
  expect([0, 1, 2].map((row) => valueAt(column, row))).toEqual([
    '100000000.00',
    '-100000000.00',
    '1.20',
  ]);
});
