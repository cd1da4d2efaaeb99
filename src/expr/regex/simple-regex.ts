/**
 * Regular expressions simple enough to match on UTF-8 bytes without automaton: literals, byte classes with
 * repetition, ^ and $, capturing groups, and alternatives of these.
 *
 * What may repeat never overlaps with what follows it, so a repetition takes all it can and is never undone;
 * only alternatives are tried one after the other. A search jumps to a literal that every match contains. Its
 * work is counted: past `WORK_MAX` a byte the caller is told to use the general engine instead, which keeps all
 * matching linear in the text.
 */
import { ByteSearch } from '../byte-search.ts';
import { sequenceBytes } from '../text-sink.ts';
import { extent, simpleSteps, type Step } from './regex-steps.ts';

/** Steps a byte of text before a search is given up. */
const WORK_MAX = 32;

/** Thrown when a search takes too long. */
export class TooMuchWork extends Error {}

/** What a node does with the text at a place. */
const ACCEPT = 0;
const LITERAL = 1;
const CLASS = 2;
const START = 3;
const END = 4;
const MARK = 5;
const EITHER = 6;

const NONE: Uint8Array = new Uint8Array(0);

/** A step and where it goes on; the options of an alternative all go on to what follows it. */
class Node {
  readonly tag: number;
  readonly next: Node | null;
  /** Of a literal its bytes, of a class its set. */
  readonly bytes: Uint8Array;
  readonly min: number;
  readonly max: number;
  /** Where a mark is kept. */
  readonly mark: number;
  readonly options: readonly Node[];

  constructor(
    tag: number,
    next: Node | null,
    bytes: Uint8Array = NONE,
    [min, max, mark] = [0, 0, 0],
    options: readonly Node[] = [],
  ) {
    this.tag = tag;
    this.next = next;
    this.bytes = bytes;
    this.min = min;
    this.max = max;
    this.mark = mark;
    this.options = options;
  }
}

/** The first of the nodes of some steps; `next` comes behind them. */
function linked(steps: readonly Step[], next: Node): Node {
  return steps.reduceRight((behind, step): Node => {
    switch (step.tag) {
      case 'literal':
        return new Node(LITERAL, behind, step.bytes);
      case 'class':
        return new Node(CLASS, behind, step.set, [step.min, step.max, 0]);
      case 'either': {
        const options = step.options.map((option) => linked(option, behind));
        return new Node(EITHER, behind, NONE, [0, 0, 0], options);
      }
      case 'start':
        return new Node(START, behind);
      case 'end':
        return new Node(END, behind);
      default:
        return new Node(MARK, behind, NONE, [0, 0, 2 * step.group + Number(step.tag === 'close')]);
    }
  }, next);
}

export class SimpleRegex {
  readonly groupCount: number;
  readonly #first: Node;
  /** A literal that every match contains, and how far behind the start of the match it may lie. */
  readonly #anchor: { search: ByteSearch; min: number; max: number } | null;
  /** Every group takes part in every match. */
  readonly #groups: Int32Array;
  #bytes: Uint8Array = NONE;
  #from = 0;
  #to = 0;
  #work = 0;

  private constructor(steps: readonly Step[], groups: number) {
    this.#first = linked(steps, new Node(ACCEPT, null));
    this.groupCount = groups;
    this.#groups = new Int32Array(2 * groups + 2);
    this.#anchor = null;
    for (const [at, step] of steps.entries()) {
      if (step.tag !== 'literal') continue;
      const [min, max] = extent(steps.slice(0, at));
      if (max < 64) this.#anchor = { search: new ByteSearch(step.bytes), min, max };
      break;
    }
  }

  /** Null when the pattern is not simple. */
  static compile(pattern: string): SimpleRegex | null {
    const read = simpleSteps(pattern);
    return read === null ? null : new SimpleRegex(read.steps, read.groups);
  }

  /**
   * The first match that starts at `at` or later in the text [from, to): its ends and those of its groups; valid until
   * the next call.
   */
  exec(bytes: Uint8Array, from: number, to: number, at: number): Int32Array | null {
    this.#bytes = bytes;
    this.#from = from;
    this.#to = to;
    this.#work = WORK_MAX * (to - at + 8);
    const anchor = this.#anchor;
    if (anchor === null) {
      for (let start = at; start <= to; start++) if (this.#matchFrom(start)) return this.#groups;
      return null;
    }
    let start = at;
    for (let search = at + anchor.min; ;) {
      const found = anchor.search.find(bytes, search, to);
      if (found < 0) return null;
      for (start = Math.max(start, found - anchor.max); start <= found - anchor.min; start++)
        if (this.#matchFrom(start)) return this.#groups;
      search = found + 1;
    }
  }

  #matchFrom(start: number): boolean {
    // No match begins inside a code point.
    if (start < this.#to && ((this.#bytes[start] as number) & 0xc0) === 0x80) return false;
    const end = this.#run(this.#first, start);
    if (end < 0) return false;
    this.#groups[0] = start;
    this.#groups[1] = end;
    return true;
  }

  /** The end of the match of this node and those behind it, or -1. */
  #run(first: Node, start: number): number {
    const bytes = this.#bytes;
    const to = this.#to;
    let node = first;
    let at = start;
    for (;;) {
      if (--this.#work < 0) throw new TooMuchWork();
      switch (node.tag) {
        case LITERAL: {
          const wanted = node.bytes;
          const size = wanted.length;
          if (at + size > to) return -1;
          for (let byte = 0; byte < size; byte++) if (bytes[at + byte] !== wanted[byte]) return -1;
          at += size;
          break;
        }
        case CLASS:
          at = this.#repeat(node, at);
          if (at < 0) return -1;
          break;
        case START:
          if (at !== this.#from) return -1;
          break;
        case END:
          if (at !== to) return -1;
          break;
        case MARK:
          this.#groups[node.mark] = at;
          break;
        case EITHER: {
          const { options } = node;
          const last = options.length - 1;
          for (let option = 0; option < last; option++) {
            const end = this.#run(options[option] as Node, at);
            if (end >= 0) return end;
          }
          node = options[last] as Node;
          continue;
        }
        default:
          return at;
      }
      node = node.next as Node;
    }
  }

  #repeat({ bytes: set, min, max }: Node, start: number): number {
    const bytes = this.#bytes;
    const to = this.#to;
    let at = start;
    if (max === Infinity && min <= 1) {
      // Bytes of a code point are in the set all or not at all, and how many code points there are does not matter.
      while (at < to && set[bytes[at] as number] === 1) at++;
      this.#work -= (at - start) >> 2;
      return at - start < min ? -1 : at;
    }
    let count = 0;
    while (count < max && at < to && set[bytes[at] as number] === 1) {
      at += sequenceBytes(bytes[at] as number);
      count++;
    }
    this.#work -= count >> 2;
    return count < min ? -1 : at;
  }
}
