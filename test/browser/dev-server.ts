/** `npm run dev` as a newcomer runs it, on a free port and with state of its own; it can be stopped and started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ApiClient } from '../../src/cli/api-client.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const START_MS = 60_000;

export class DevServer {
  readonly port: number;
  readonly stateDir: string;
  readonly api: ApiClient;
  #process: ChildProcess | null = null;

  private constructor(port: number, stateDir: string) {
    this.port = port;
    this.stateDir = stateDir;
    this.api = new ApiClient((path, init) => this.fetch(path, init));
  }

  static async start(): Promise<DevServer> {
    const server = new DevServer(
      await freePort(),
      await mkdtemp(join(tmpdir(), 'thalweg-browser-')),
    );
    await server.run();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async fetch(path: string, init?: RequestInit): Promise<Response> {
    return await fetch(new URL(path, `${this.url}/`), init);
  }

  /** Starts it; resolves when it has said where the console is. */
  async run(): Promise<void> {
    const child = spawn(
      process.execPath,
      ['bin/thalweg.mjs', 'dev', '--port', String(this.port), '--state', this.stateDir],
      { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    this.#process = child;
    let said = '';
    await new Promise<void>((started, failed) => {
      const timer = setTimeout(() => failed(new Error(`not started: ${said}`)), START_MS);
      const hear = (chunk: Buffer): void => {
        said += chunk.toString();
        if (!said.includes('Console ')) return;
        clearTimeout(timer);
        started();
      };
      child.stdout?.on('data', hear);
      child.stderr?.on('data', hear);
      child.once('exit', (code) => {
        clearTimeout(timer);
        failed(new Error(`ended with ${code}: ${said}`));
      });
    });
  }

  /** Ends it as Ctrl-C does. */
  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    await ended;
  }

  async close(): Promise<void> {
    await this.stop();
    await rm(this.stateDir, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
