/** The record of an operator on dates, times, moments and intervals: strict, and a row may fail. */
import type { SqlType } from '../../batch/types.ts';
import type {
  ArgumentPattern,
  Evaluate,
  FunctionExample,
  ScalarFunction,
} from '../function-types.ts';
import { always } from '../function-types.ts';

export const operator = (
  id: string,
  name: string,
  args: readonly ArgumentPattern[],
  type: SqlType,
  doc: string,
  example: FunctionExample,
  evaluate: Evaluate,
): ScalarFunction => ({
  id,
  name,
  infix: name,
  args,
  result: always(type),
  nullRule: 'strict',
  canFail: true,
  doc,
  examples: [example],
  evaluate,
});
