/** Constructor of the node that calls functions of the user's own. */
import { assert } from '../base/assert.ts';
import type { Field } from '../batch/types.ts';
import { printExpr } from '../expr/print.ts';
import { tableColumns, userCallId } from '../expr/user-function.ts';
import type { PlanNode, UserCall, UserFunctionNode } from './logical.ts';

/** Columns: the input's, then one per call, named as it is written. */
export function makeUserFunctions(input: PlanNode, calls: readonly UserCall[]): UserFunctionNode {
  const names = input.schema.map(({ name }) => name);
  const added = calls.map(({ fn, args }): Field => ({
    name: printExpr({ tag: 'call', fn: userCallId(fn.name), args, type: fn.returns }, names),
    type: fn.returns,
    nullable: true,
  }));
  return {
    tag: 'user-function',
    input,
    calls,
    rows: null,
    schema: [...input.schema, ...added],
    updating: input.updating,
    keys: input.keys,
    eventTime: input.eventTime,
    windows: [...input.windows, ...added.map(() => null)],
  };
}

/** Columns: the input's, then those of the table function. */
export function makeTableFunction(
  input: PlanNode,
  call: UserCall,
  rows: 'inner' | 'outer',
): UserFunctionNode {
  assert(call.fn.kind === 'table', 'a table function gives rows');
  const added = tableColumns(call.fn).map((field) => ({ ...field, nullable: true }));
  return {
    ...makeUserFunctions(input, []),
    ...extended(input, added),
    calls: [call],
    rows,
    keys: null,
  };
}

const extended = (
  input: PlanNode,
  added: readonly Field[],
): Pick<UserFunctionNode, 'schema' | 'windows'> => ({
  schema: [...input.schema, ...added],
  windows: [...input.windows, ...added.map(() => null)],
});
