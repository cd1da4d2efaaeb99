/** The engines that only the benchmarks need: packages of `bench/peers`, installed on first use; DuckDB comes with the tests. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export const PEERS_DIRECTORY = resolve(import.meta.dirname, '../peers');

export type PeerPackage = '@duckdb/node-api' | 'chdb' | '@electric-sql/d2mini';

const fromPeers = createRequire(join(PEERS_DIRECTORY, 'package.json'));

export async function importPeer<T>(name: PeerPackage): Promise<T> {
  return (await import(pathToFileURL(fromPeers.resolve(name)).href)) as T;
}

/** Those of the project are found as well. */
const installed = (name: PeerPackage): boolean =>
  (fromPeers.resolve.paths(name) ?? []).some((directory) => existsSync(join(directory, name)));

/** Installs what is missing by the lock of `bench/peers`; why it cannot, or null. */
export function installPeers(
  names: readonly PeerPackage[],
  log: (line: string) => void,
): string | null {
  if (names.every(installed)) return null;
  log('installing the engines to compare with into bench/peers (about 600 MB, once)');
  const { status, stderr } = spawnSync('npm', ['install', '--no-save', '--no-audit', '--no-fund'], {
    cwd: PEERS_DIRECTORY,
    encoding: 'utf8',
  });
  const missing = names.filter((name) => !installed(name));
  if (missing.length === 0) return null;
  return `${missing.join(', ')} cannot be installed: npm install ended with ${status}: ${stderr.trim().split('\n').slice(-3).join(' ')}`;
}
