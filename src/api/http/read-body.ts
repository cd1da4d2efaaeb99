/** Reads a request's body up to a limit, decompressed when it was sent with gzip. */
import { EngineError } from '../../base/errors.ts';

/** Throws BODY_TOO_LARGE beyond `bytesMax`, before or after decompression; INVALID_REQUEST when it is no gzip. */
export async function readBody(request: Request, bytesMax: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get('content-length') ?? 0);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  if (request.body === null) return new Uint8Array(0);
  const encoding = (request.headers.get('content-encoding') ?? 'identity').trim().toLowerCase();
  switch (encoding) {
    case 'identity':
      return await collect(request.body, bytesMax);
    case 'gzip':
    case 'x-gzip':
      return await decompress(request.body, bytesMax);
    default:
      throw new EngineError('INVALID_REQUEST', `content-encoding ${encoding} is not supported`, {
        suggestion: 'gzip',
      });
  }
}

async function decompress(body: ReadableStream<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const gunzip = new DecompressionStream('gzip') as unknown as ReadableWritablePair<
    Uint8Array,
    Uint8Array
  >;
  try {
    return await collect(body.pipeThrough(gunzip), bytesMax);
  } catch (thrown) {
    if (thrown instanceof EngineError) throw thrown;
    throw new EngineError(
      'INVALID_REQUEST',
      'the body is not the gzip data that content-encoding says',
      {},
      thrown,
    );
  }
}

async function collect(stream: ReadableStream<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > bytesMax) {
      await reader.cancel();
      throw tooLarge(bytesMax);
    }
    chunks.push(value);
  }
  if (chunks.length === 1) return chunks[0] as Uint8Array;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

const tooLarge = (bytesMax: number): EngineError =>
  new EngineError('BODY_TOO_LARGE', `the body is larger than ${bytesMax} bytes`, {
    hint: 'Send the rows in several requests.',
  });
