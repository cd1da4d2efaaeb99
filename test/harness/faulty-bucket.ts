/**
 * Any R2 bucket with a fate for each call that a sink makes.
 *
 * `apply`: done and answered. `lose-answer`: done, and seems to fail. `delay`: seems to fail, and is done when `land` is
 * called. `hang`: never answered and never done. A text: not done, and answered with this error.
 */
export type BucketFate = 'apply' | 'lose-answer' | 'delay' | 'hang' | { error: string };

export const THROTTLED: BucketFate = { error: 'Reduce your concurrent request rate. (10058)' };
export const UNAVAILABLE: BucketFate = { error: 'Service Unavailable: 503 (10043)' };
export const CONFLICT: BucketFate = { error: 'A precondition failed: 412 (10031)' };
export const FORBIDDEN: BucketFate = { error: 'Access Denied (10003)' };

export type BucketCall = { method: string; key: string; changes: boolean };

const CHANGING: ReadonlySet<string> = new Set([
  'put',
  'delete',
  'createMultipartUpload',
  'uploadPart',
  'complete',
  'abort',
]);

export class FaultyBucket {
  readonly calls: BucketCall[] = [];
  readonly #real: R2Bucket;
  readonly #fateOf: (call: BucketCall, index: number) => BucketFate;
  readonly #delayed: (() => Promise<unknown>)[] = [];

  /** @param fateOf gets the call and how many came before it */
  constructor(real: R2Bucket, fateOf: (call: BucketCall, index: number) => BucketFate) {
    this.#real = real;
    this.#fateOf = fateOf;
  }

  /** The delayed calls arrive now; what they answer interests nobody. */
  async land(): Promise<void> {
    for (const call of this.#delayed.splice(0)) await call().catch(() => undefined);
  }

  get binding(): R2Bucket {
    const real = this.#real as unknown as Record<string, (...args: unknown[]) => unknown>;
    const wrapped: Record<string, unknown> = {};
    for (const method of ['head', 'get', 'put', 'delete', 'list'])
      wrapped[method] = (...args: unknown[]) =>
        this.#send(method, String(args[0]), async () => await real[method]?.(...args));
    wrapped['createMultipartUpload'] = async (key: string) => {
      const upload = (await this.#send('createMultipartUpload', key, () =>
        this.#real.createMultipartUpload(key),
      )) as R2MultipartUpload;
      return this.#upload(upload);
    };
    wrapped['resumeMultipartUpload'] = (key: string, uploadId: string) =>
      this.#upload(this.#real.resumeMultipartUpload(key, uploadId));
    return wrapped as unknown as R2Bucket;
  }

  #upload(upload: R2MultipartUpload): R2MultipartUpload {
    const { key } = upload;
    return {
      key,
      uploadId: upload.uploadId,
      uploadPart: (part: number, bytes: Uint8Array) =>
        this.#send('uploadPart', key, () => upload.uploadPart(part, bytes)),
      complete: (parts: R2UploadedPart[]) =>
        this.#send('complete', key, () => upload.complete(parts)),
      abort: () => this.#send('abort', key, () => upload.abort()),
    } as R2MultipartUpload;
  }

  async #send<T>(method: string, key: string, call: () => Promise<T>): Promise<T> {
    const described = { method, key, changes: CHANGING.has(method) };
    const fate = this.#fateOf(described, this.calls.length);
    this.calls.push(described);
    if (fate === 'hang') return await new Promise<never>(() => undefined);
    if (typeof fate === 'object') throw new Error(`${method}: ${fate.error}`);
    if (fate === 'delay') {
      this.#delayed.push(call);
      throw new Error(`${method}: network connection lost`);
    }
    const answer = await call();
    if (fate === 'lose-answer') throw new Error(`${method}: network connection lost`);
    return answer;
  }
}
