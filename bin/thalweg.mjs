#!/usr/bin/env node
/**
 * The door to the command line. Plain JavaScript, because it has to run on whatever Node the user has:
 * the rest is TypeScript that Node strips itself, which needs the version checked here. When the running
 * Node is too old, the one installed beside the project takes over; signals and exit code pass through.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Node 22.18 is the first that runs TypeScript without a flag; workerd's tooling asks for 22.12. */
const needed = [22, 18];

function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > needed[0] || (major === needed[0] && minor >= needed[1]);
}

async function runHere() {
  const { main } = await import('../src/cli/main.ts');
  process.exitCode = await main(process.argv.slice(2));
}

function runWithInstalledNode() {
  const suffix = process.platform === 'win32' ? 'node.exe' : 'node';
  const node = fileURLToPath(new URL(`../node_modules/.bin/${suffix}`, import.meta.url));
  if (!existsSync(node)) {
    process.stderr.write(
      `thalweg: Node ${needed.join('.')} or newer is needed and this is ${process.versions.node}.\n` +
        'Run `npm install` in the project (it brings its own Node), or install a newer Node.\n',
    );
    process.exitCode = 1;
    return;
  }
  const script = fileURLToPath(import.meta.url);
  const child = spawn(node, [script, ...process.argv.slice(2)], { stdio: 'inherit' });
  // The child decides when to end, this process waits for it. A terminal sends Ctrl-C to the whole group, so the child
  // may get it twice; it takes two at once for one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`thalweg: cannot start ${node}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exit(signal === null ? (code ?? 1) : 128 + (constants.signals[signal] ?? 0));
  });
}

if (isNewEnough(process.versions.node)) await runHere();
else runWithInstalledNode();
