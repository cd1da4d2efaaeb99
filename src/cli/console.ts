/**
 * The console as static assets, where wrangler.toml says they are. Vite makes them in under a second; a start without a
 * change hashes the sources and builds nothing. A build that fails is told, and an older console stays in use.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../base/errors.ts';
import { workDir } from './project.ts';

const SOURCES = 'src/console';
const STAMP = 'console-inputs.txt';

/** The hash of everything that the console is made of. */
async function inputsOf(root: string): Promise<string> {
  const hash = createHash('sha256');
  const paths = (await readdir(join(root, SOURCES), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  for (const path of [...paths, join(root, 'package-lock.json')]) {
    hash.update(`${path}\n`);
    if (existsSync(path)) hash.update(await readFile(path));
  }
  return hash.digest('hex');
}

/** Makes `directory` if the sources have changed since; true when it did. Throws BUILD_FAILED. */
export async function buildConsole(root: string, directory: string): Promise<boolean> {
  if (!existsSync(join(root, SOURCES))) {
    await mkdir(directory, { recursive: true });
    return false;
  }
  const inputs = await inputsOf(root);
  const stampPath = join(workDir(root), STAMP);
  const isBuilt = existsSync(join(directory, 'index.html')) && existsSync(stampPath);
  if (isBuilt && (await readFile(stampPath, 'utf8')) === inputs) return false;
  const { build } = await import('vite');
  try {
    await build({
      configFile: join(root, SOURCES, 'vite.config.ts'),
      logLevel: 'silent',
      build: { outDir: directory },
    });
  } catch (error) {
    throw new EngineError(
      'BUILD_FAILED',
      'the console does not build',
      { detail: error instanceof Error ? error.message : String(error) },
      error,
    );
  }
  await mkdir(workDir(root), { recursive: true });
  await writeFile(stampPath, inputs);
  return true;
}
