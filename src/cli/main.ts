/** The command line: which command, and what the exit code is. Each command's code loads when it is asked for. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../base/errors.ts';
import { PROJECT_ROOT } from './project.ts';
import { print, printFailure } from './terminal.ts';

/** Gets the arguments after the command's name; answers the exit code. */
type Command = { summary: string; run: (argv: readonly string[]) => Promise<number> };

const COMMANDS: Record<string, Command> = {
  dev: {
    summary: 'run Thalweg here: API, console, cron; state is kept in .thalweg/state',
    run: async (argv) => (await import('./dev.ts')).dev(argv),
  },
  run: {
    summary: 'run a SQL file to its end and print its rows',
    run: async (argv) => (await import('./run.ts')).run(argv),
  },
  verify: {
    summary: "prove from the bucket alone that a pipeline's history is one line",
    run: async (argv) => (await import('./verify.ts')).verify(argv),
  },
  doctor: {
    summary: 'check that this machine can run it',
    run: async () => (await import('./doctor.ts')).doctor(),
  },
  version: { summary: 'print the version', run: printVersion },
  help: { summary: 'print this, or the options of a command', run: printHelp },
};

const ALIASES: Record<string, string> = {
  '--help': 'help',
  '-h': 'help',
  '--version': 'version',
  '-v': 'version',
};

async function printVersion(): Promise<number> {
  const { version } = JSON.parse(await readFile(join(PROJECT_ROOT, 'package.json'), 'utf8')) as {
    version: string;
  };
  print(`thalweg ${version} (Node ${process.versions.node})`);
  return 0;
}

async function printHelp(argv: readonly string[]): Promise<number> {
  switch (argv[0]) {
    case 'dev':
      print((await import('./dev.ts')).DEV_USAGE);
      return 0;
    case 'run':
      return (await import('./run.ts')).run(['--help']);
    case 'verify':
      return (await import('./verify.ts')).verify(['--help']);
    default:
      print('Usage: thalweg COMMAND [OPTIONS]\n');
      for (const [name, { summary }] of Object.entries(COMMANDS))
        print(`  ${name.padEnd(8)} ${summary}`);
      return 0;
  }
}

/** Never throws: what goes wrong is said on stderr and is exit code 1. */
export async function main(argv: readonly string[]): Promise<number> {
  const [first = 'help', ...rest] = argv;
  const name = ALIASES[first] ?? first;
  try {
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (command === undefined) {
      throw new EngineError('INVALID_OPTION', `there is no command "${first}"`, {
        hint: `Commands: ${Object.keys(COMMANDS).join(', ')}.`,
      });
    }
    const wantsHelp = name === 'dev' && (rest.includes('--help') || rest.includes('-h'));
    return wantsHelp ? await printHelp([name]) : await command.run(rest);
  } catch (error) {
    printFailure(error);
    return 1;
  }
}
