/**
 * What wrangler.toml says, as Miniflare wants it. Wrangler itself reads the file, so a local run and a
 * deployment cannot disagree about it. Loading wrangler costs most of a second; its answer depends only on
 * the file and its version, so it is kept and wrangler is loaded again only when one of them changes.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { V4WorkerOptions } from 'miniflare';
import { EngineError } from '../base/errors.ts';
import { workDir } from './project.ts';

/** The Worker's options without its code, and what the file says about things Miniflare has no option for. */
export type WorkerDescription = {
  options: Partial<V4WorkerOptions>;
  name: string;
  /** Entry file, relative to the project. */
  entry: string;
  /** D1 binding → folder of its migrations, relative to the project. */
  migrations: Record<string, string>;
  crons: string[];
};

type Kept = { key: string; description: WorkerDescription };

export async function readWorkerDescription(root: string): Promise<WorkerDescription> {
  const configPath = join(root, 'wrangler.toml');
  if (!existsSync(configPath)) {
    throw new EngineError('NOT_FOUND', `there is no wrangler.toml in ${root}`, {
      hint: 'Run thalweg from a checkout of the project.',
    });
  }
  const wranglerVersion = (
    createRequire(import.meta.url)('wrangler/package.json') as { version: string }
  ).version;
  const key = createHash('sha256')
    .update(`2 ${wranglerVersion} ${root}\n`)
    .update(await readFile(configPath))
    .digest('hex');
  const keptPath = join(workDir(root), 'worker-options.json');
  if (existsSync(keptPath)) {
    const kept = JSON.parse(await readFile(keptPath, 'utf8')) as Kept;
    if (kept.key === key) return kept.description;
  }
  const description = await askWrangler(root, configPath);
  await mkdir(workDir(root), { recursive: true });
  await writeFile(keptPath, JSON.stringify({ key, description } satisfies Kept));
  return description;
}

async function askWrangler(root: string, configPath: string): Promise<WorkerDescription> {
  const wrangler = await import('wrangler');
  let config: ReturnType<typeof wrangler.unstable_readConfig>;
  try {
    config = wrangler.unstable_readConfig({ config: configPath });
  } catch (error) {
    throw new EngineError(
      'INVALID_OPTION',
      'wrangler.toml cannot be read',
      { detail: error instanceof Error ? error.message : String(error) },
      error,
    );
  }
  const { workerOptions } = wrangler.unstable_getMiniflareWorkerOptions(config);
  const migrations = config.d1_databases.map(
    (database: { binding: string; migrations_dir?: string }) =>
      [database.binding, database.migrations_dir ?? 'migrations'] as const,
  );
  return {
    options: workerOptions as Partial<V4WorkerOptions>,
    name: config.name ?? 'thalweg',
    entry: (config.main ?? 'src/worker.ts').replace(`${root}/`, ''),
    migrations: Object.fromEntries(migrations),
    crons: [...(config.triggers.crons ?? [])],
  };
}
