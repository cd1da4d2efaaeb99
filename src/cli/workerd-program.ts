/**
 * The workerd program itself, asked for its version before anything is served with it: a program that the
 * machine cannot run says why to whoever starts it plainly, and shows as a broken pipe to whoever does not.
 */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { EngineError } from '../base/errors.ts';
import { WAYS_OUT } from './startup-failure.ts';

const ANSWER_WITHIN_MS = 4000;

/** The program Miniflare will start; the variable is Miniflare's own. */
export function workerdProgram(): string {
  const named = process.env['MINIFLARE_WORKERD_PATH'];
  if (named !== undefined) return named;
  const fromMiniflare = createRequire(createRequire(import.meta.url).resolve('miniflare'));
  return (fromMiniflare('workerd') as { default: string }).default;
}

/** What the program printed, or why it could not be started; never a stack. */
function reasonOf(error: unknown): string {
  const {
    stderr = '',
    message,
    code,
  } = error as { stderr?: string; message: string; code?: unknown };
  const said = stderr.trim().split('\n').slice(0, 4).join('\n');
  if (said !== '') return said;
  return typeof code === 'number'
    ? `it ended with exit code ${code} and said nothing`
    : (message.split('\n')[0] ?? message);
}

/** The version workerd prints. Throws RUNTIME_FAILED with its own words and the ways out. */
export async function workerdVersion(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(workerdProgram(), ['--version'], {
      timeout: ANSWER_WITHIN_MS,
    });
    return stdout.trim();
  } catch (error) {
    if ((error as { killed?: boolean }).killed === true)
      throw new EngineError(
        'RUNTIME_FAILED',
        `the local runtime (workerd) did not tell its version within ${ANSWER_WITHIN_MS / 1000} s`,
        { hint: 'Is the machine very busy? Try again; `npm run doctor` checks the installation.' },
        error,
      );
    throw new EngineError(
      'RUNTIME_FAILED',
      'the local runtime (workerd) cannot start on this machine',
      { detail: reasonOf(error), hint: WAYS_OUT },
      error,
    );
  }
}
