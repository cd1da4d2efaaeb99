/**
 * A handler in Node, reachable from the Worker as a service binding: how a Worker, which has no file
 * system, reads and writes the user's files during `thalweg run`.
 *
 * It is a server on loopback and not a function handed to Miniflare, so that it goes on while the runtime's
 * process is killed and started again. A random token that only workerd's configuration knows keeps other
 * programs of the machine out.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';

export type LocalFilesHandler = (request: Request) => Promise<Response>;

/** Where the handler listens; plain data, so that it can be passed to another process. */
export type LocalFilesAddress = { address: string; token: string };

export const TOKEN_HEADER = 'x-thalweg-local-files';

function toRequest(incoming: IncomingMessage): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const each of [value ?? []].flat()) headers.append(name, each);
  }
  headers.delete(TOKEN_HEADER);
  const method = incoming.method ?? 'GET';
  const bodiless = method === 'GET' || method === 'HEAD';
  const init: RequestInit & { duplex?: 'half' } = { method, headers };
  if (!bodiless) {
    init.body = Readable.toWeb(incoming) as unknown as ReadableStream<Uint8Array>;
    init.duplex = 'half';
  }
  return new Request(`http://${incoming.headers.host ?? 'files'}${incoming.url ?? '/'}`, init);
}

async function answer(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(
    response.status,
    Object.fromEntries(response.headers as unknown as Iterable<[string, string]>),
  );
  if (response.body === null) {
    outgoing.end();
    return;
  }
  await pipeline(Readable.fromWeb(response.body as unknown as NodeReadableStream), outgoing);
}

/** Starts the server on a free loopback port. A handler that throws answers 500 with the message. */
export async function serveLocalFiles(
  handler: LocalFilesHandler,
): Promise<LocalFilesAddress & { close(): Promise<void> }> {
  const token = randomUUID();
  const server = createServer((incoming, outgoing) => {
    if (incoming.headers[TOKEN_HEADER] !== token) {
      outgoing.writeHead(403).end();
      return;
    }
    handler(toRequest(incoming))
      .then((response) => answer(response, outgoing))
      .catch((error: unknown) => {
        if (outgoing.headersSent) outgoing.destroy();
        else
          outgoing
            .writeHead(500, { 'content-type': 'text/plain' })
            .end(error instanceof Error ? error.message : String(error));
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
