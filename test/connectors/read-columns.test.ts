/** Which texts a source checks without keeping them. */
import { expect, test } from 'vitest';
import { INT64, TEXT } from '../../src/batch/types.ts';
import { readColumns } from '../../src/connectors/read-columns.ts';
import { JSON_FORMAT, type DecodeColumn } from '../../src/formats/format.ts';
import type { Expr } from '../../src/expr/expr.ts';

const field = (name: string, type: DecodeColumn['type'], nullable = false): DecodeColumn => ({
  name,
  type,
  nullable,
  default: null,
});
const physical = [field('id', INT64), field('a', TEXT), field('b', TEXT), field('c', TEXT, true)];
const column = (index: number): Expr => ({
  tag: 'column',
  index,
  type: (physical[index] as DecodeColumn).type,
});
const unread = (computed: readonly Expr[] | null, format = JSON_FORMAT): string[] =>
  readColumns({ physical, computed, format }).flatMap((each) =>
    each.unread === true ? [each.name] : [],
  );

test('texts that are NOT NULL and that no output column is are not kept', () => {
  expect(unread([column(0), column(2)])).toEqual(['a']);
  expect(unread([column(3)])).toEqual(['a', 'b']);
});

test('all are kept when all come out, when an expression may fail and show the row, and of changes', () => {
  expect(unread(null)).toEqual([]);
  const cast: Expr = { tag: 'cast', input: column(1), orNull: false, type: INT64 };
  expect(unread([column(0), cast])).toEqual([]);
  expect(unread([column(0)], { ...JSON_FORMAT, changes: { keys: ['id'] } })).toEqual([]);
});
