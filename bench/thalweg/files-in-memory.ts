/**
 * Files held whole in memory of the measured process: what a job costs from its bytes on. In production they come from R2 or
 * from a log, whose cost workerd's `disk` service does not tell.
 *
 * Parts are views, as a body that arrives is handed on: nobody writes to them.
 */
export class FilesInMemory {
  readonly #files = new Map<string, Promise<Uint8Array | null>>();

  /** As `FileReader`; the first read of a path loads all of it. */
  async read(
    service: Fetcher,
    path: string,
    offset: number,
    length: number,
  ): Promise<{ bytes: Uint8Array; size: number } | null> {
    let file = this.#files.get(path);
    if (file === undefined) {
      file = load(service, path);
      this.#files.set(path, file);
    }
    const bytes = await file;
    if (bytes === null) return null;
    return { bytes: bytes.subarray(offset, offset + length), size: bytes.length };
  }
}

async function load(service: Fetcher, path: string): Promise<Uint8Array | null> {
  const response = await service.fetch(`http://files/${path}`);
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(`reading ${path}: HTTP ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
