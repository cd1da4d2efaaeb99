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

const INSTALL = ['install', '--no-save', '--no-audit', '--no-fund'];

/** Those of the project are found as well. */
const installed = (name: PeerPackage): boolean =>
  (fromPeers.resolve.paths(name) ?? []).some((directory) => existsSync(join(directory, name)));

/**
 * Installs what is missing, in the versions of the lock of `bench/peers`; what cannot be had, and why. Not by `npm ci`: that wants
 * the binaries of all systems in the lock, also where a registry has only some of them.
 */
export function installPeers(
  names: readonly PeerPackage[],
  log: (line: string) => void,
): { missing: readonly PeerPackage[]; reason: string } {
  if (names.every(installed)) return { missing: [], reason: '' };
  log('installing the engines to compare with into bench/peers (about 600 MB, once)');
  const { status, stderr } = spawnSync('npm', INSTALL, { cwd: PEERS_DIRECTORY, encoding: 'utf8' });
  const missing = names.filter((name) => !installed(name));
  const said = stderr.split('\n').filter((line) => line.startsWith('npm error '));
  return { missing, reason: `npm install ended with ${status}: ${said.slice(0, 3).join(' ')}` };
}
