/** Reads the patterns that `simple-regex.ts` matches. */

/** Which bytes: 1 a byte of the class. Bytes above 127 are in it all or not at all. */
type ByteSet = Uint8Array;

export type Step =
  | { tag: 'literal'; bytes: Uint8Array }
  | { tag: 'class'; set: ByteSet; min: number; max: number }
  | { tag: 'start' | 'end' }
  | { tag: 'open' | 'close'; group: number }
  | { tag: 'either'; options: readonly (readonly Step[])[] };

const ESCAPED_SETS: Readonly<Record<string, string>> = {
  d: '0123456789',
  w: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_',
  s: '\t\n\f\r ',
};

function setOf(characters: string, negated: boolean): ByteSet {
  const set = new Uint8Array(256);
  for (const character of characters) set[character.charCodeAt(0)] = 1;
  if (negated) for (let byte = 0; byte < 256; byte++) set[byte] = 1 - (set[byte] as number);
  return set;
}

class NotSimple extends Error {}

/** Recursive descent over the pattern; throws `NotSimple` at whatever it does not know. */
class SimpleParser {
  readonly #pattern: string;
  #at = 0;
  groups = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  parse(): Step[] {
    const steps = this.#alternatives();
    if (this.#at < this.#pattern.length) throw new NotSimple();
    return steps;
  }

  #peek(): string {
    return this.#pattern.charAt(this.#at);
  }

  #alternatives(): Step[] {
    const groups = this.groups;
    const options = [this.#sequence()];
    while (this.#peek() === '|') {
      this.#at++;
      options.push(this.#sequence());
    }
    if (options.length === 1) return options[0] as Step[];
    // A group in an option that fails would have to be forgotten again.
    if (this.groups > groups) throw new NotSimple();
    return [{ tag: 'either', options }];
  }

  #sequence(): Step[] {
    const steps: Step[] = [];
    while (this.#at < this.#pattern.length && this.#peek() !== '|' && this.#peek() !== ')')
      this.#item(steps);
    return steps;
  }

  #item(steps: Step[]): void {
    const character = this.#peek();
    if (character === '^' || character === '$') {
      this.#at++;
      steps.push({ tag: character === '^' ? 'start' : 'end' });
      this.#refuseRepetition();
    } else if (character === '(') this.#group(steps);
    else if ('*+?{'.includes(character)) throw new NotSimple();
    else {
      const set = this.#atom();
      const [min, max] = this.#repetition();
      const literal = typeof set === 'number' && min === 1 && max === 1;
      if (!literal)
        steps.push({
          tag: 'class',
          set: typeof set === 'number' ? setOf(String.fromCharCode(set), false) : set,
          min,
          max,
        });
      else {
        const before = steps.at(-1);
        if (before?.tag === 'literal') before.bytes = Uint8Array.of(...before.bytes, set);
        else steps.push({ tag: 'literal', bytes: Uint8Array.of(set) });
      }
    }
  }

  #group(steps: Step[]): void {
    this.#at++;
    const capturing = this.#peek() !== '?';
    if (!capturing) {
      if (this.#pattern.slice(this.#at, this.#at + 2) !== '?:') throw new NotSimple();
      this.#at += 2;
    }
    const group = capturing ? ++this.groups : 0;
    const inner = this.#alternatives();
    if (this.#peek() !== ')') throw new NotSimple();
    this.#at++;
    this.#refuseRepetition();
    if (capturing) steps.push({ tag: 'open', group }, ...inner, { tag: 'close', group });
    else steps.push(...inner);
  }

  #refuseRepetition(): void {
    if (this.#at < this.#pattern.length && '*+?{'.includes(this.#peek())) throw new NotSimple();
  }

  /** One character as its code, or a class. */
  #atom(): number | ByteSet {
    const character = this.#peek();
    this.#at++;
    if (character === '.') return setOf('\n', true);
    if (character === '[') return this.#class();
    if (character !== '\\') return plain(character);
    const escaped = this.#peek();
    this.#at++;
    const named = ESCAPED_SETS[escaped.toLowerCase()];
    if (named !== undefined) return setOf(named, escaped !== escaped.toLowerCase());
    if (escaped === 'n') return 10;
    if (escaped === 't') return 9;
    if (/^[a-z0-9]?$/i.test(escaped)) throw new NotSimple();
    return plain(escaped);
  }

  #class(): ByteSet {
    const negated = this.#peek() === '^';
    if (negated) this.#at++;
    let members = '';
    for (let first = true; first || this.#peek() !== ']'; first = false) {
      let character = this.#peek();
      if (
        character === '' ||
        (character === '[' && this.#pattern.charAt(this.#at + 1) === ':') ||
        (first && character === ']')
      )
        throw new NotSimple();
      this.#at++;
      if (character === '\\') {
        const escaped = this.#peek();
        this.#at++;
        const named = ESCAPED_SETS[escaped];
        if (named !== undefined) {
          members += named;
          continue;
        }
        if (/^[a-z0-9]?$/i.test(escaped)) throw new NotSimple();
        character = escaped;
      }
      const from = plain(character);
      if (this.#peek() === '-' && this.#pattern.charAt(this.#at + 1) !== ']') {
        const to = plain(this.#pattern.charAt(this.#at + 1));
        if (to === 92 || to < from) throw new NotSimple();
        this.#at += 2;
        for (let code = from; code <= to; code++) members += String.fromCharCode(code);
      } else members += character;
    }
    this.#at++;
    return setOf(members, negated);
  }

  #repetition(): [number, number] {
    const character = this.#peek();
    let bounds: [number, number] = [1, 1];
    if (character === '*') bounds = [0, Infinity];
    else if (character === '+') bounds = [1, Infinity];
    else if (character === '?') bounds = [0, 1];
    else if (character !== '{') return bounds;
    const counted = /^\{(\d{1,3})(?:(,)(\d{0,3}))?\}/.exec(this.#pattern.slice(this.#at));
    if (character === '{' && counted === null) throw new NotSimple();
    this.#at += counted === null ? 1 : counted[0].length;
    if (counted !== null) {
      const min = Number(counted[1]);
      bounds = [
        min,
        counted[2] === undefined ? min : counted[3] === '' ? Infinity : Number(counted[3]),
      ];
      if (bounds[1] < min) throw new NotSimple();
    }
    this.#refuseRepetition();
    return bounds;
  }
}

/** The code of an ASCII character. */
function plain(character: string): number {
  const code = character.charCodeAt(0);
  if (!(code > 0 && code < 128)) throw new NotSimple();
  return code;
}

/** The bytes a match of these steps can begin with; null: it can be empty. */
function firstBytes(steps: readonly Step[], from: number): ByteSet | null {
  const all = new Uint8Array(256);
  for (let at = from; at < steps.length; at++) {
    const step = steps[at] as Step;
    if (step.tag === 'literal') {
      all[step.bytes[0] as number] = 1;
      return all;
    }
    if (step.tag === 'class') {
      for (let byte = 0; byte < 256; byte++) if (step.set[byte] === 1) all[byte] = 1;
      if (step.min > 0) return all;
    } else if (step.tag === 'either') {
      let optional = false;
      for (const option of step.options) {
        const first = firstBytes(option, 0);
        if (first === null) optional = true;
        else for (let byte = 0; byte < 256; byte++) if (first[byte] === 1) all[byte] = 1;
      }
      if (!optional) return all;
    }
  }
  return null;
}

/** Whether nothing that may repeat overlaps with what may follow. `behind`: steps that come after these. */
function isDeterministic(steps: readonly Step[], behind: readonly Step[]): boolean {
  return steps.every((step, at) => {
    const rest = [...steps.slice(at + 1), ...behind];
    if (step.tag === 'either') return step.options.every((option) => isDeterministic(option, rest));
    if (step.tag !== 'class' || step.min === step.max) return true;
    const next = firstBytes(rest, 0);
    const overlaps = (set: ByteSet): boolean =>
      set.some((value, byte) => value === 1 && step.set[byte] === 1);
    if (next !== null) return !overlaps(next);
    // What follows may be empty: nothing but marks and ends may come.
    return rest.every(({ tag }) => tag === 'close' || tag === 'open' || tag === 'end');
  });
}

/** Bytes a match of these steps takes, at least and at most. */
export function extent(steps: readonly Step[]): [number, number] {
  let min = 0;
  let max = 0;
  for (const step of steps) {
    if (step.tag === 'literal') {
      min += step.bytes.length;
      max += step.bytes.length;
    } else if (step.tag === 'class') {
      min += step.min;
      max += step.max * (step.set[255] === 1 ? 4 : 1);
    } else if (step.tag === 'either') {
      const extents = step.options.map(extent);
      min += Math.min(...extents.map(([low]) => low));
      max += Math.max(...extents.map(([, high]) => high));
    }
  }
  return [min, max];
}

/** The steps of a pattern and the number of its groups; null: it is not simple. */
export function simpleSteps(pattern: string): { steps: readonly Step[]; groups: number } | null {
  try {
    const parser = new SimpleParser(pattern);
    const steps = parser.parse();
    return isDeterministic(steps, []) ? { steps, groups: parser.groups } : null;
  } catch (error) {
    if (error instanceof NotSimple) return null;
    throw error;
  }
}
