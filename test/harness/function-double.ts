/** Functions of the user's own without a sandbox: the code runs here and now. */
import type { FunctionReply, FunctionRequest } from '../../src/operators/user-functions.ts';
import type { UserFunction } from '../../src/expr/user-function.ts';
import { type Reply, runFunction } from '../../src/sandbox/run-function.ts';

// oxlint-disable-next-line no-empty-function
const GeneratorFunction = Object.getPrototypeOf(function* () {}).constructor as FunctionConstructor;

/** Only bodies, of functions that do not wait. */
function moduleOf({ body, kind, parameters }: UserFunction): Record<string, unknown> {
  const names = parameters.map(({ name }) => name);
  const Make = kind === 'table' ? GeneratorFunction : Function;
  return { default: Make(...names, body) };
}

export function answerAtOnce({ fn, rows, columns }: FunctionRequest): FunctionReply {
  // Where nothing waits there is nothing to be asynchronous about.
  return runFunction(moduleOf(fn), { ...fn, waits: false }, { rows, columns }) as Reply;
}
