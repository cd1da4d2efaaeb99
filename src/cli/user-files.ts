/** The user's files as `thalweg run` reads and writes them. */
import { mkdir, open, rename, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { EngineError } from '../base/errors.ts';

/** Another reader sees the old file or the new one, never a part. */
export async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.thalweg-partial`, bytes);
    await rename(`${path}.thalweg-partial`, path);
  } catch (error) {
    throw new EngineError('SINK_FAILED', `cannot write ${path}`, {
      detail: (error as Error).message,
    });
  }
}

/** Answers a source's range read of a file of this machine. */
export async function serveFile(request: Request): Promise<Response> {
  const { searchParams } = new URL(request.url);
  const path = searchParams.get('path') ?? '';
  const offset = Number(searchParams.get('offset') ?? 0);
  const length = Number(searchParams.get('length') ?? 0);
  let file;
  try {
    file = await open(resolve(path), 'r');
  } catch (error) {
    return new Response((error as Error).message, { status: 404 });
  }
  try {
    const status = await file.stat();
    if (status.isDirectory()) return new Response('it is a directory', { status: 404 });
    const { size } = status;
    const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)));
    const { bytesRead } = await file.read(bytes, 0, bytes.byteLength, offset);
    return new Response(bytes.subarray(0, bytesRead), { headers: { 'x-file-size': String(size) } });
  } finally {
    await file.close();
  }
}
