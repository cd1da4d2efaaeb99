import { expect, test } from 'vitest';
import { planFunction } from '../../src/graph/plan-sql.ts';
import {
  FIRST_FUNCTION,
  parametersOf,
  sampleCall,
} from '../../src/console/pages/functions/function-text.ts';

test('arguments to try a function with are taken from its declaration', () => {
  const text =
    'CREATE FUNCTION f(a BIGINT, "b" DECIMAL(10, 2), c STRUCT<x INT, y TEXT>, d TEXT[]) RETURNS TEXT LANGUAGE javascript AS $$ $$';
  expect(parametersOf(text)).toEqual([
    { name: 'a', type: 'BIGINT' },
    { name: '"b"', type: 'DECIMAL(10, 2)' },
    { name: 'c', type: 'STRUCT<x INT, y TEXT>' },
    { name: 'd', type: 'TEXT[]' },
  ]);
  expect(JSON.parse(sampleCall(text))).toEqual([1, '1.50', {}, []]);
  expect(parametersOf('CREATE FUNC')).toEqual([]);
});

test('the function that the page begins with is one', () => {
  expect(planFunction(FIRST_FUNCTION).errors).toEqual([]);
  expect(sampleCall(FIRST_FUNCTION)).toBe('["text"]');
});
