/**
 * The only builder, and the only reader, of the names of lineage objects.
 *
 * Place in the walk: stages 8-10. Layout under `{pipeline}/{job}/`:
 *
 *     current-generation.json                                            O1  who owns the pipeline
 *     generations/{g}/{nonce}/manifest.json                              O2  what a leader started with
 *     generations/{g}/{nonce}/checkpoints/{E}/manifest                   O3  a checkpoint
 *     generations/{g}/{nonce}/checkpoints/{E}/{operator}/{table}/{n}-{u} O3f one state file
 *     generations/{g}/{nonce}/checkpoints/{E}/committed.json             O5  its commit has ended
 *     epochs/{E}.record                                                  O4  which checkpoint is canonical
 *
 * Invariants: g and E are zero-padded, so that the order of names is the order of numbers; every name under
 * `generations/` carries generation and nonce, so no two incarnations write the same one (INV-09), the committed
 * marker excepted, which says the same whoever writes it. Failure: none; a name that is not ours reads as null.
 */
import { assert } from '../base/assert.ts';

/** Digits of an epoch or generation; ten suffice for 300 years of epochs a second. */
const NUMBER_DIGITS = 10;

/** What a key names. `epoch` is the epoch in the name. */
export type LineageName =
  | { tag: 'current' }
  | { tag: 'generation'; generation: number; nonce: string }
  | { tag: 'manifest'; generation: number; nonce: string; epoch: number }
  | { tag: 'marker'; generation: number; nonce: string; epoch: number }
  | { tag: 'file'; generation: number; nonce: string; epoch: number }
  | { tag: 'record'; epoch: number };

export class LineagePaths {
  /** Ends with a slash. */
  readonly prefix: string;

  constructor(pipeline: string, job: string) {
    this.prefix = `${segment(pipeline)}/${segment(job)}/`;
  }

  get current(): string {
    return `${this.prefix}current-generation.json`;
  }

  get epochs(): string {
    return `${this.prefix}epochs/`;
  }

  get generations(): string {
    return `${this.prefix}generations/`;
  }

  record(epoch: number): string {
    return `${this.epochs}${padded(epoch)}.record`;
  }

  generation(generation: number, nonce: string): string {
    return `${this.#incarnation(generation, nonce)}manifest.json`;
  }

  manifest(generation: number, nonce: string, epoch: number): string {
    return `${this.#checkpoint(generation, nonce, epoch)}manifest`;
  }

  marker(generation: number, nonce: string, epoch: number): string {
    return `${this.#checkpoint(generation, nonce, epoch)}committed.json`;
  }

  /** `uuid` is fresh for each file, so that an attempt that was given up never shares a name with the next. */
  file(
    generation: number,
    nonce: string,
    epoch: number,
    operator: string,
    table: string,
    subtask: number,
    uuid: string,
  ): string {
    const folder = `${this.#checkpoint(generation, nonce, epoch)}${segment(operator)}/${segment(table)}`;
    return `${folder}/${subtask}-${segment(uuid)}`;
  }

  /** What the key names, or null when no method of this class builds such a key. */
  parse(key: string): LineageName | null {
    if (key === this.current) return { tag: 'current' };
    if (!key.startsWith(this.prefix)) return null;
    const parts = key.slice(this.prefix.length).split('/');
    if (parts[0] === 'epochs' && parts.length === 2) return parseRecord(parts[1] ?? '');
    if (parts[0] !== 'generations') return null;
    const generation = number(parts[1] ?? '');
    const nonce = parts[2] ?? '';
    if (generation === null || nonce === '') return null;
    if (parts.length === 4 && parts[3] === 'manifest.json')
      return { tag: 'generation', generation, nonce };
    const epoch = number(parts[4] ?? '');
    if (parts[3] !== 'checkpoints' || epoch === null) return null;
    if (parts.length === 8) return { tag: 'file', generation, nonce, epoch };
    if (parts.length !== 6) return null;
    if (parts[5] === 'manifest') return { tag: 'manifest', generation, nonce, epoch };
    return parts[5] === 'committed.json' ? { tag: 'marker', generation, nonce, epoch } : null;
  }

  #incarnation(generation: number, nonce: string): string {
    assert(/^[A-Za-z0-9_-]+$/.test(nonce), `not a nonce: ${nonce}`);
    return `${this.generations}${padded(generation)}/${nonce}/`;
  }

  #checkpoint(generation: number, nonce: string, epoch: number): string {
    return `${this.#incarnation(generation, nonce)}checkpoints/${padded(epoch)}/`;
  }
}

function parseRecord(name: string): LineageName | null {
  const epoch = name.endsWith('.record') ? number(name.slice(0, -'.record'.length)) : null;
  return epoch === null ? null : { tag: 'record', epoch };
}

function padded(value: number): string {
  assert(Number.isSafeInteger(value) && value >= 0, `not a number of a lineage: ${value}`);
  const digits = String(value).padStart(NUMBER_DIGITS, '0');
  assert(digits.length === NUMBER_DIGITS, `too large for a name: ${value}`);
  return digits;
}

function number(digits: string): number | null {
  return digits.length === NUMBER_DIGITS && /^[0-9]+$/.test(digits) ? Number(digits) : null;
}

/** One part of a key: whatever the text holds, it cannot contain a slash. */
function segment(text: string): string {
  assert(text !== '', 'a part of a key is not empty');
  return encodeURIComponent(text);
}
