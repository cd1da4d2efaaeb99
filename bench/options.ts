/** What the command lines of the benchmarks have in common: mistakes are told before anything is measured. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';

type Declared = NonNullable<ParseArgsConfig['options']>;

/** A mistake of the caller: its message is all that is said. */
export class UsageError extends Error {}

/** @param usage told behind what is wrong */
export function parsed<T extends Declared>(args: readonly string[], options: T, usage: string) {
  try {
    const found = parseArgs({ args: [...args], options, tokens: true });
    const names = found.tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined) throw new Error(`--${twice} is given twice`);
    return found.values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${usage}`);
  }
}

/**
 * npm takes options that do not stand behind `--` as its own, and starts the command without them. Ask only for names that npm and
 * what it installs with do not know: `json` and `jobs` may be set for good.
 */
export function refuseSwallowed(
  names: readonly string[],
  command: string,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  // `--dry` becomes `--dry-run` there.
  const lost = names.find((name) =>
    [name, `${name}_run`].some((kept) => environment[`npm_config_${kept}`] !== undefined),
  );
  if (lost !== undefined)
    throw new UsageError(`npm has kept --${lost} for itself: npm run ${command} -- --${lost} …`);
}

export function wholeNumber(name: string, text: string, usage: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= 1) return value;
  throw new UsageError(`--${name} ${text} is not a whole number of at least 1\n${usage}`);
}

/** Names between commas, each once; all that are known when nothing is said. */
export function chosen(
  kind: string,
  text: string | undefined,
  known: readonly string[],
  usage: string,
): string[] {
  const names = [...new Set(text?.split(',').map((name) => name.trim()) ?? known)];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new UsageError(`there is no ${kind} "${unknown}"\n${usage}`);
  return names;
}

/** Results that took an hour are not lost because they cannot be written. */
export function mustBeWritable(path: string): void {
  const whole = resolve(path);
  const exists = existsSync(whole);
  if (exists && statSync(whole).isDirectory()) throw new UsageError(`${path} is a folder`);
  const target = exists ? whole : dirname(whole);
  if (!existsSync(target))
    throw new UsageError(`${path} cannot be written: there is no folder ${dirname(path)}`);
  try {
    accessSync(target, constants.W_OK);
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${(error as Error).message}`);
  }
}
