/**
 * R2's binding in memory, as far as sinks use it: objects with metadata, conditional puts, multipart uploads.
 *
 * Like R2: an upload is gone once it is completed or aborted, and completing it takes the parts that are named and no other.
 * Errors end with R2's own codes.
 */
import { contentHash } from '../../src/lineage/content-hash.ts';

type Stored = { bytes: Uint8Array; etag: string; metadata: Record<string, string> };
type Upload = { key: string; parts: Map<number, { bytes: Uint8Array; etag: string }> };

export class MemoryBucket {
  readonly objects = new Map<string, Stored>();
  readonly uploads = new Map<string, Upload>();
  #unique = 0;

  /** As the binding's type: only what sinks call is there. */
  get binding(): R2Bucket {
    return this as unknown as R2Bucket;
  }

  async head(key: string): Promise<object | null> {
    const found = this.objects.get(key);
    return found === undefined ? null : headOf(key, found);
  }

  async get(key: string): Promise<object | null> {
    const found = this.objects.get(key);
    if (found === undefined) return null;
    const bytes = found.bytes.slice();
    return {
      ...headOf(key, found),
      arrayBuffer: async () => bytes.buffer,
      text: async () => new TextDecoder().decode(bytes),
    };
  }

  async put(
    key: string,
    value: Uint8Array | string,
    options: { onlyIf?: R2Conditional; customMetadata?: Record<string, string> } = {},
  ): Promise<object | null> {
    const { onlyIf, customMetadata } = options;
    const present = this.objects.get(key);
    if (onlyIf?.etagDoesNotMatch === '*' && present !== undefined) return null;
    if (onlyIf?.etagMatches !== undefined && present?.etag !== onlyIf.etagMatches) return null;
    const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value.slice();
    const stored = { bytes, etag: contentHash(bytes), metadata: { ...customMetadata } };
    this.objects.set(key, stored);
    return headOf(key, stored);
  }

  async delete(keys: string | string[]): Promise<void> {
    for (const key of typeof keys === 'string' ? [keys] : keys) this.objects.delete(key);
  }

  async list({ prefix }: { prefix: string }): Promise<object> {
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    return { objects: keys.map((key) => ({ key })), truncated: false };
  }

  async createMultipartUpload(key: string): Promise<R2MultipartUpload> {
    const uploadId = `upload-${this.#unique++}`;
    this.uploads.set(uploadId, { key, parts: new Map() });
    return this.resumeMultipartUpload(key, uploadId);
  }

  resumeMultipartUpload(key: string, uploadId: string): R2MultipartUpload {
    const open = (): Upload => {
      const upload = this.uploads.get(uploadId);
      if (upload === undefined || upload.key !== key)
        throw new Error('the specified multipart upload does not exist. (10024)');
      return upload;
    };
    return {
      key,
      uploadId,
      uploadPart: async (partNumber: number, value: unknown): Promise<R2UploadedPart> => {
        const bytes = (value as Uint8Array).slice();
        const etag = `part-${this.#unique++}`;
        open().parts.set(partNumber, { bytes, etag });
        return { partNumber, etag };
      },
      complete: async (parts: R2UploadedPart[]): Promise<R2Object> => {
        const upload = open();
        const bytes = parts.flatMap(({ partNumber, etag }) => {
          const part = upload.parts.get(partNumber);
          if (part?.etag !== etag)
            throw new Error('one or more of the specified parts could not be found. (10025)');
          return [...part.bytes];
        });
        this.uploads.delete(uploadId);
        return (await this.put(key, new Uint8Array(bytes))) as R2Object;
      },
      abort: async (): Promise<void> => {
        open();
        this.uploads.delete(uploadId);
      },
    } as R2MultipartUpload;
  }
}

const headOf = (key: string, { bytes, etag, metadata }: Stored): object => ({
  key,
  etag,
  size: bytes.byteLength,
  customMetadata: { ...metadata },
});
