/** The options of `thalweg run`. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { EngineError } from '../base/errors.ts';

export const RUN_USAGE = `thalweg run FILE.sql | -   (- reads the SQL from stdin)
  --parallelism N            subtasks of every operator (default 1)
  --checkpoint-interval T    as 10s, 500ms, 2m (default 10s)
  --batch-size N             rows per batch (default 2048)
  --final                    print the final rows of updating results instead of their changes
  --state DIR                keep state there, and go on from it (default: none is kept)
  --chaos SEED               reset hosts, leader and process at moments drawn from SEED
  --force                    with --state: FILE may differ from the SQL the state is of, which is what runs
  --overwrite                single_file sinks may replace files that this state has not written
  --strict                   bad or late rows make the exit code 1
  --check                    only check the SQL and print its plan; nothing is run`;

export type RunOptions = {
  file: string;
  parallelism: number;
  checkpointIntervalMs: number;
  batchRows: number | null;
  final: boolean;
  stateDir: string | null;
  chaos: string | null;
  force: boolean;
  overwrite: boolean;
  strict: boolean;
  check: boolean;
};

export function parseRunArguments(argv: readonly string[]): RunOptions {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        parallelism: { type: 'string', short: 'p', default: '1' },
        'checkpoint-interval': { type: 'string', default: '10s' },
        'batch-size': { type: 'string' },
        final: { type: 'boolean', default: false },
        state: { type: 'string', short: 's' },
        chaos: { type: 'string' },
        force: { type: 'boolean', short: 'f', default: false },
        overwrite: { type: 'boolean', default: false },
        strict: { type: 'boolean', default: false },
        check: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new EngineError('INVALID_OPTION', (error as Error).message, { hint: RUN_USAGE });
  }
  const { values, positionals } = parsed;
  const [file, extra] = positionals;
  if (file === undefined || extra !== undefined) {
    throw new EngineError('INVALID_OPTION', 'run takes one SQL file', { hint: RUN_USAGE });
  }
  return {
    file,
    parallelism: wholeNumber('--parallelism', values.parallelism, 1),
    checkpointIntervalMs: duration(values['checkpoint-interval']),
    batchRows:
      values['batch-size'] === undefined
        ? null
        : wholeNumber('--batch-size', values['batch-size'], 1),
    final: values.final,
    stateDir: values.state === undefined ? null : resolve(values.state),
    chaos: values.chaos ?? null,
    force: values.force,
    overwrite: values.overwrite,
    strict: values.strict,
    check: values.check,
  };
}

function wholeNumber(name: string, given: string, least: number): number {
  const value = Number(given);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new EngineError(
    'INVALID_OPTION',
    `${name} ${given} is not a whole number of at least ${least}`,
  );
}

const UNITS_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

function duration(given: string): number {
  const match = /^(\d+)(ms|s|m|h)$/.exec(given);
  if (match === null) {
    throw new EngineError('INVALID_OPTION', `${given} is not a duration`, {
      hint: 'Write it as 500ms, 10s, 2m or 1h.',
    });
  }
  return Number(match[1]) * (UNITS_MS[match[2] as string] as number);
}
