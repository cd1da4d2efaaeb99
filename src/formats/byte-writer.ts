/** A growing byte buffer for encoders. */

export class ByteWriter {
  bytes: Uint8Array;
  /** Bytes written so far; encoders move it themselves after `reserve`. */
  length = 0;

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Makes room for `size` more bytes; `bytes` may be another buffer afterwards. */
  reserve(size: number): void {
    if (this.length + size <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + size));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  /** Appends a few bytes. */
  put(source: Uint8Array): void {
    this.reserve(source.length);
    // The sources are short words: a loop beats a call of `set`.
    const { bytes } = this;
    let at = this.length;
    for (let from = 0; from < source.length; from++) bytes[at++] = source[from] as number;
    this.length = at;
  }

  /** Appends one byte. */
  putByte(byte: number): void {
    this.reserve(1);
    this.bytes[this.length++] = byte;
  }

  /** Everything written, without a copy; the writer must not be used further. */
  finish(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }
}
