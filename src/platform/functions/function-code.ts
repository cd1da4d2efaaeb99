/** A function of the user's own → the code of the Worker that runs it. */
import { transform } from 'sucrase';
import { EngineError } from '../../base/errors.ts';
import { sha256 } from '../../base/sha256.ts';
import type { UserFunction } from '../../expr/user-function.ts';
import type { Signature } from '../../sandbox/run-function.ts';
import { SANDBOX_SOURCE } from './sandbox-source.ts';

export type FunctionCode = {
  /** Equal for equal code and signature, and for no others. */
  id: string;
  modules: Record<string, string>;
  signature: Signature;
};

/** Code that brings its own `export` is a module; any other is the inside of one function. */
const isModule = (body: string): boolean => /^\s*export\s/m.test(body);

/** The user's module, in the user's language. Lines keep their numbers but for the one ahead of them. */
export function userModule({ body, kind, waits, parameters }: UserFunction): string {
  if (isModule(body)) return body;
  const head = `${waits ? 'async ' : ''}function${kind === 'table' ? '*' : ''}`;
  return `export default ${head} (${parameters.map(({ name }) => name).join(', ')}) {\n${body}\n}\n`;
}

/** Throws INVALID_FUNCTION when TypeScript can not be read. */
export function functionCode(fn: UserFunction): FunctionCode {
  const written = userModule(fn);
  const source = fn.language === 'typescript' ? withoutTypes(fn.name, written) : written;
  const { kind, waits, parameters, returns, calledOnNull, timeoutMs, retries, concurrency } = fn;
  const signature = {
    kind,
    waits,
    parameters,
    returns,
    calledOnNull,
    timeoutMs,
    retries,
    concurrency,
  };
  const modules = { 'main.js': SANDBOX_SOURCE, 'user.js': source };
  const identity = JSON.stringify([modules, signature, fn.network]);
  return { id: sha256(new TextEncoder().encode(identity)), modules, signature };
}

function withoutTypes(name: string, source: string): string {
  try {
    return transform(source, { transforms: ['typescript'], disableESTransforms: true }).code;
  } catch (thrown) {
    throw invalidFunction(name, thrown);
  }
}

export const invalidFunction = (name: string, thrown: unknown): EngineError =>
  new EngineError(
    'INVALID_FUNCTION',
    `${name}() can not be loaded: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    { hint: 'correct its code; a body without export is the inside of a function, with a return' },
    thrown,
  );
