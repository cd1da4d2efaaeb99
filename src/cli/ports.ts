/** Which port to listen on: the usual one if it is free, else any. */
import { createServer, type AddressInfo } from 'node:net';

export const USUAL_PORT = 8787;

/** Listens for a moment; answers the port it got, or undefined when it is taken. */
export async function probePort(host: string, port: number): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(undefined);
      else reject(error);
    });
    server.listen({ host, port, exclusive: true }, () => {
      const found = (server.address() as AddressInfo).port;
      server.close(() => resolve(found));
    });
  });
}

/** The preferred port, or a free one that the system chooses. */
export async function usablePort(host: string, preferred: number): Promise<number> {
  const found = (await probePort(host, preferred)) ?? (await probePort(host, 0));
  if (found === undefined) throw new Error(`no free port on ${host}`);
  return found;
}
