/**
 * What is known of a function that a user wrote: its signature, its code, and what it may do.
 *
 * Such a function is no overload of the registry: its code runs in a sandbox that answers later, so no expression can
 * evaluate it. While a query is bound a call of it is an ordinary call by an id of its own; the planner then takes every
 * one out of the expressions and gives it to an operator that asks the sandbox (`plan/lift-calls.ts`).
 */
import { assert } from '../base/assert.ts';
import type { Field, SqlType } from '../batch/types.ts';
import { TEXT } from '../batch/types.ts';
import type { ScalarFunction } from './function-types.ts';

/** Which hosts the code may reach: none, all, or those named. */
export type NetworkGrant = 'none' | 'internet' | readonly string[];

export type UserFunction = {
  name: string;
  kind: 'scalar' | 'aggregate' | 'table';
  /** Its body may wait. */
  waits: boolean;
  parameters: readonly { name: string; type: SqlType }[];
  /** Of a table function: a struct of the columns. */
  returns: SqlType;
  language: 'javascript' | 'typescript';
  body: string;
  /** Called although an argument is NULL, which else gives NULL. */
  calledOnNull: boolean;
  /** May give another result for equal arguments. */
  volatile: boolean;
  /** A synchronous function: for the rows of one call together. An asynchronous one: for each attempt of a row. */
  timeoutMs: number;
  /** Further attempts of a row whose asynchronous call failed. */
  retries: number;
  /** Rows of one call that are under way at once, if it waits. */
  concurrency: number;
  network: NetworkGrant;
};

/** A call with its arguments over the columns of the rows. */
export const USER_CALL = 'user:';

export const userCallId = (name: string): string => `${USER_CALL}${name}`;

export const isUserCall = (fn: string): boolean => fn.startsWith(USER_CALL);

/** What the registry says of it: enough that no rule folds, moves or trusts it. */
export const userStandIn = (fn: string): ScalarFunction => ({
  id: fn,
  name: fn.slice(USER_CALL.length),
  args: [],
  result: () => TEXT,
  nullRule: 'custom',
  canFail: true,
  mayBeNull: true,
  volatile: true,
  doc: '',
  examples: [],
  evaluate: () => assert(false, `${fn} is computed by an operator of its own`) as never,
});

/** The columns of the rows that a table function gives. */
export const tableColumns = ({ returns }: UserFunction): readonly Field[] => {
  assert(returns.tag === 'struct', 'a table function gives rows');
  return returns.tag === 'struct' ? returns.fields : [];
};
