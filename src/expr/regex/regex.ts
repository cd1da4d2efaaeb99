/**
 * Regular expressions over UTF-8 text in time linear in the text, whatever the pattern: simple ones on bytes
 * (`simple-regex.ts`), all others by the automata of re2js. Syntax is RE2's: no back-references, no look-around.
 *
 * Compiled patterns are kept; one that does not compile is an error of the row, or of the plan when it is a constant.
 */
import { RE2JS, RE2JSException } from 're2js';
import { SimpleRegex, TooMuchWork } from './simple-regex.ts';

const KEPT_MAX = 256;

export type Problem = { problem: string };

export class Regex {
  readonly groupCount: number;
  /** Made when a pattern turns out not to be simple for a text. */
  readonly #general: RE2JS;
  #simple: SimpleRegex | null;
  readonly #groups: Int32Array;

  constructor(pattern: string, flags: number) {
    this.#general = RE2JS.compile(pattern, flags);
    this.#simple = flags === 0 ? SimpleRegex.compile(pattern) : null;
    this.groupCount = this.#general.groupCount();
    this.#groups = new Int32Array(2 * this.groupCount + 2);
  }

  test(bytes: Uint8Array, from: number, to: number): boolean {
    if (this.#simple !== null) return this.exec(bytes, from, to, from) !== null;
    return this.#general.test(bytes.subarray(from, to));
  }

  /**
   * The first match that starts at byte `at` or later in the text [from, to): its ends and those of its groups
   * as places in `bytes`, -1 for a group that took no part; valid until the next call.
   */
  exec(bytes: Uint8Array, from: number, to: number, at: number): Int32Array | null {
    if (this.#simple !== null) {
      try {
        return this.#simple.exec(bytes, from, to, at);
      } catch (error) {
        if (!(error instanceof TooMuchWork)) throw error;
        this.#simple = null;
      }
    }
    const matcher = this.#general.matcher(bytes.subarray(from, to));
    if (!matcher.find(at - from)) return null;
    for (let group = 0; group <= this.groupCount; group++) {
      const start = matcher.start(group);
      this.#groups[2 * group] = start < 0 ? -1 : from + start;
      this.#groups[2 * group + 1] = start < 0 ? -1 : from + matcher.end(group);
    }
    return this.#groups;
  }
}

const KEPT = new Map<string, Regex | Problem>();

/**
 * @param flags  letters: i ignores case, s lets . match a line end, m lets ^ and $ match at lines, g is for the caller,
 *               c is the default
 */
export function compileRegex(pattern: string, flags = ''): Regex | Problem {
  const key = `${flags}/${pattern}`;
  const known = KEPT.get(key);
  if (known !== undefined) return known;
  const made = make(pattern, flags);
  const oldest = KEPT.keys().next().value;
  if (KEPT.size >= KEPT_MAX && oldest !== undefined) KEPT.delete(oldest);
  KEPT.set(key, made);
  return made;
}

function make(pattern: string, flags: string): Regex | Problem {
  let bits = 0;
  for (const flag of flags) {
    if (flag === 'i') bits |= RE2JS.CASE_INSENSITIVE;
    else if (flag === 's') bits |= RE2JS.DOTALL;
    else if (flag === 'm' || flag === 'n') bits |= RE2JS.MULTILINE;
    else if (flag !== 'g' && flag !== 'c')
      return {
        problem: `there is no flag ${flag} of regular expressions; there are i, g, s, m, c`,
      };
  }
  try {
    return new Regex(pattern, bits);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return {
      problem: `${error.message.replace('error parsing regexp', 'not a regular expression')}`,
    };
  }
}

/** The regular expression of a SIMILAR TO pattern; null when it ends in a lone escape character. */
export function similarToRegex(pattern: string, escape: string): string | null {
  let regex = '';
  let inClass = false;
  const points = [...pattern];
  for (let at = 0; at < points.length; at++) {
    const point = points[at] as string;
    if (point === escape) {
      at++;
      if (at === points.length) return null;
      regex += quoted(points[at] as string);
    } else if (inClass) {
      inClass = point !== ']';
      regex += point === '\\' ? '\\\\' : point;
    } else if (point === '%') regex += '.*';
    else if (point === '_') regex += '.';
    else if ('|*+?{}()'.includes(point)) regex += point === '(' ? '(?:' : point;
    else if (point === '[') {
      inClass = true;
      regex += point;
    } else regex += quoted(point);
  }
  return `^(?:${regex})$`;
}

const quoted = (point: string): string => (/[\w\s]|[^\0-\x7f]/.test(point) ? point : `\\${point}`);
