/**
 * `npm run sandbox`: bundles what runs beside the user's functions in their Worker into src/platform/functions/sandbox-source.ts.
 * The result is committed, so that wrangler can deploy without a step before; `test/tidy` holds it to its sources.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '..');
const OUTPUT = join(ROOT, 'src/platform/functions/sandbox-source.ts');

/** The Worker that is loaded: it has one caller, and this is all that it answers to. */
const MAIN = `
import { WorkerEntrypoint } from 'cloudflare:workers';
import * as user from './user.js';
import { checkModule, runFunction } from './src/sandbox/run-function.ts';

export default class Functions extends WorkerEntrypoint {
  check() {
    return checkModule(user, this.env.SIGNATURE);
  }
  call(request) {
    return runFunction(user, this.env.SIGNATURE, request);
  }
}
`;

const HEAD = `/** Made by \`npm run sandbox\` from src/sandbox; not written by hand. */\n`;

/** The file's text as it should be. */
export async function sandboxSource(): Promise<string> {
  const built = await build({
    stdin: { contents: MAIN, resolveDir: ROOT, sourcefile: 'main.js', loader: 'js' },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    charset: 'ascii',
    legalComments: 'none',
    external: ['cloudflare:workers', './user.js'],
  });
  const text = built.outputFiles[0]?.text.trimEnd() ?? '';
  // As JSON in single quotes, which is how the formatter writes a string.
  const literal = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `${HEAD}export const SANDBOX_SOURCE =\n  '${literal}';\n`;
}

export const committedSandbox = (): string => readFileSync(OUTPUT, 'utf8');

if (import.meta.main || process.argv[1] === import.meta.filename) {
  const text = await sandboxSource();
  writeFileSync(OUTPUT, text);
  process.stdout.write(`sandbox-source.ts ${text.length} bytes\n`);
}
