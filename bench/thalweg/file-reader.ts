/**
 * Parts of a file, one behind the other, from one stream of workerd's `disk` service: a request for each part would cost
 * several times as much. A part may begin before the end of the last one, as far back as that one reaches.
 */
export class FileReader {
  readonly #service: Fetcher;
  readonly #path: string;
  #reader: ReadableStreamBYOBReader | null = null;
  #size = 0;
  /** Memory of the part before the last one: nobody reads that any more when the next one is asked for. */
  #free: ArrayBuffer | null = null;
  /** The last part, and where it begins in the file. */
  #last = new Uint8Array(0);
  #lastFrom = 0;

  constructor(service: Fetcher, path: string) {
    this.#service = service;
    this.#path = path;
  }

  /** Bytes `[offset, offset + length)`, less at the end; null when there is no such file. */
  async read(offset: number, length: number): Promise<{ bytes: Uint8Array; size: number } | null> {
    const lastTo = this.#lastFrom + this.#last.length;
    const held = lastTo - offset;
    if (this.#reader === null || held < 0 || offset < this.#lastFrom) {
      if (!(await this.#open(offset))) return null;
      this.#last = new Uint8Array(0);
    }
    const again = this.#last.subarray(this.#last.length - Math.max(0, this.#last.length && held));
    const wanted = Math.min(length, this.#size - offset);
    const free = this.#free?.byteLength === length ? this.#free : new ArrayBuffer(length);
    this.#free = this.#last.buffer;
    let bytes = new Uint8Array(free, 0, Math.max(0, wanted));
    bytes.set(again);
    if (bytes.length > again.length && this.#reader !== null) {
      const rest = bytes.subarray(again.length);
      const { value } = await this.#reader.readAtLeast(rest.length, rest);
      const read = value?.length ?? 0;
      bytes = new Uint8Array(value?.buffer ?? new ArrayBuffer(0), 0, again.length + read);
    }
    this.#last = bytes;
    this.#lastFrom = offset;
    return { bytes, size: this.#size };
  }

  async #open(offset: number): Promise<boolean> {
    await this.#reader?.cancel();
    const headers = offset === 0 ? {} : { range: `bytes=${offset}-` };
    const response = await this.#service.fetch(`http://files/${this.#path}`, { headers });
    if (response.status === 404 || response.body === null) return false;
    this.#size = Number(
      offset === 0
        ? response.headers.get('content-length')
        : response.headers.get('content-range')?.split('/')[1],
    );
    if (!response.ok || !Number.isSafeInteger(this.#size))
      throw new Error(`reading ${this.#path}: HTTP ${response.status}`);
    this.#reader = response.body.getReader({ mode: 'byob' }) as ReadableStreamBYOBReader;
    return true;
  }
}
