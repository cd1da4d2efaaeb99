/** JSON text as values whose numbers keep their digits: for looking at samples, not for decoding rows. */

export type SampleValue =
  | { tag: 'null' }
  | { tag: 'boolean'; text: string }
  | { tag: 'number'; text: string }
  | { tag: 'string'; value: string }
  | { tag: 'array'; elements: SampleValue[] }
  /** Of a key given twice the last value counts, at the first place. */
  | { tag: 'object'; fields: Map<string, SampleValue> };

const DEPTH_MAX = 512;

const TOKEN =
  /\s*("[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[\]{},:])/y;

/** The object that `text` is; null when it is none. The text has passed the grammar, or what comes out is of no use. */
export function readSample(text: string): Map<string, SampleValue> | null {
  const reader = new SampleReader(text);
  const value = reader.value();
  return value?.tag === 'object' && reader.atEnd() ? value.fields : null;
}

class SampleReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  atEnd(): boolean {
    return this.#text.slice(this.#at).trim() === '';
  }

  #next(): string | null {
    TOKEN.lastIndex = this.#at;
    const found = TOKEN.exec(this.#text);
    if (found === null) return null;
    this.#at = TOKEN.lastIndex;
    return found[1] as string;
  }

  value(): SampleValue | null {
    // What the grammar refuses is not read either.
    if (this.#depth > DEPTH_MAX) return null;
    const token = this.#next();
    switch (token?.[0]) {
      case undefined:
        return null;
      case '{':
      case '[': {
        this.#depth++;
        const value = token === '{' ? this.#object() : this.#array();
        this.#depth--;
        return value;
      }
      case '"': {
        const value = stringOf(token as string);
        return value === null ? null : { tag: 'string', value };
      }
      case 't':
      case 'f':
        return { tag: 'boolean', text: token as string };
      case 'n':
        return { tag: 'null' };
      default:
        return /^[-\d]/.test(token as string) ? { tag: 'number', text: token as string } : null;
    }
  }

  #object(): SampleValue | null {
    const fields = new Map<string, SampleValue>();
    if (this.#closes('}')) return { tag: 'object', fields };
    for (;;) {
      const key = this.#next();
      const name = key?.startsWith('"') === true ? stringOf(key) : null;
      if (name === null || this.#next() !== ':') return null;
      const value = this.value();
      if (value === null) return null;
      fields.set(name, value);
      const next = this.#next();
      if (next === '}') return { tag: 'object', fields };
      if (next !== ',') return null;
    }
  }

  #array(): SampleValue | null {
    const elements: SampleValue[] = [];
    if (this.#closes(']')) return { tag: 'array', elements };
    for (;;) {
      const value = this.value();
      if (value === null) return null;
      elements.push(value);
      const next = this.#next();
      if (next === ']') return { tag: 'array', elements };
      if (next !== ',') return null;
    }
  }

  #closes(sign: string): boolean {
    const before = this.#at;
    if (this.#next() === sign) return true;
    this.#at = before;
    return false;
  }
}

function stringOf(token: string): string | null {
  try {
    return JSON.parse(token) as string;
  } catch {
    return null;
  }
}
