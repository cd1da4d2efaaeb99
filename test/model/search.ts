/**
 * Breadth-first search over states that are short rows of whole numbers.
 *
 * Every state seen is kept, exactly (no fingerprints): rows of 32-bit numbers in chunks, found again through a table of
 * row numbers with open addressing. Rows are numbered in the order of discovery, so the queue is a cursor into them, and
 * ten million states of a dozen numbers take half a gigabyte. How a state was reached is kept as its parent; what the
 * move was called is found again by expanding the parent once more, because only one trace is ever shown.
 *
 * A violation is found in a shortest history, because the search goes by length.
 */

/** A rule is broken; the message begins with its name. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

export function demand(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new Violation(rule);
}

/** `state` may be reused by the caller once `emit` has returned. `text` is called only for the trace. */
export type Emit = (state: readonly number[], text: () => string) => void;

export type Problem = {
  /** Numbers in a state, each within 32 bits. */
  width: number;
  initial: readonly number[];
  /** Calls `emit` once for each move; throws a `Violation`, also of the state itself. */
  expand(state: readonly number[], emit: Emit): void;
};

export type Report = {
  states: number;
  moves: number;
  /** Length of the longest shortest history. */
  depth: number;
  /** States in which nothing can move. */
  ends: number;
  exhausted: boolean;
  violation: { rule: string; trace: string[] } | null;
};

const CHUNK_ROWS = 1 << 16;

/** All rows seen, each once, in the order of discovery. */
class Rows {
  readonly #width: number;
  readonly #chunks: Int32Array[] = [];
  readonly #parents: Int32Array[] = [];
  #table = new Int32Array(1 << 16).fill(-1);
  size = 0;

  constructor(width: number) {
    this.#width = width;
  }

  parent(row: number): number {
    return this.#parents[Math.floor(row / CHUNK_ROWS)]?.[row % CHUNK_ROWS] as number;
  }

  read(row: number): number[] {
    const chunk = this.#chunks[Math.floor(row / CHUNK_ROWS)] as Int32Array;
    const at = (row % CHUNK_ROWS) * this.#width;
    const numbers: number[] = [];
    for (let index = 0; index < this.#width; index++) numbers.push(chunk[at + index] as number);
    return numbers;
  }

  /** False when the row is known. */
  add(row: readonly number[], parent: number): boolean {
    const mask = this.#table.length - 1;
    let slot = hashOf(row) & mask;
    for (;;) {
      const known = this.#table[slot] as number;
      if (known === -1) break;
      if (this.#equals(known, row)) return false;
      slot = (slot + 1) & mask;
    }
    this.#table[slot] = this.size;
    this.#append(row, parent);
    if (this.size * 2 > this.#table.length) this.#grow();
    return true;
  }

  #append(row: readonly number[], parent: number): void {
    const chunk = Math.floor(this.size / CHUNK_ROWS);
    if (chunk === this.#chunks.length) {
      this.#chunks.push(new Int32Array(CHUNK_ROWS * this.#width));
      this.#parents.push(new Int32Array(CHUNK_ROWS));
    }
    (this.#chunks[chunk] as Int32Array).set(row, (this.size % CHUNK_ROWS) * this.#width);
    (this.#parents[chunk] as Int32Array)[this.size % CHUNK_ROWS] = parent;
    this.size++;
  }

  #equals(known: number, row: readonly number[]): boolean {
    const chunk = this.#chunks[Math.floor(known / CHUNK_ROWS)] as Int32Array;
    const at = (known % CHUNK_ROWS) * this.#width;
    for (let index = 0; index < this.#width; index++)
      if (chunk[at + index] !== row[index]) return false;
    return true;
  }

  #grow(): void {
    const table = new Int32Array(this.#table.length * 4).fill(-1);
    const mask = table.length - 1;
    for (let row = 0; row < this.size; row++) {
      let slot = hashOf(this.read(row)) & mask;
      while (table[slot] !== -1) slot = (slot + 1) & mask;
      table[slot] = row;
    }
    this.#table = table;
  }
}

/** MurmurHash3's mixing, one number at a time. */
function hashOf(row: readonly number[]): number {
  let hash = row.length;
  for (let index = 0; index < row.length; index++) {
    let piece = Math.imul(row[index] as number, 0xcc9e2d51);
    piece = (piece << 15) | (piece >>> 17);
    hash ^= Math.imul(piece, 0x1b873593);
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Visits every state that can be reached, or stops at the first violation, or at `statesMax` states. */
export function search(problem: Problem, statesMax = Infinity): Report {
  const rows = new Rows(problem.width);
  const report: Report = {
    states: 0,
    moves: 0,
    depth: 0,
    ends: 0,
    exhausted: true,
    violation: null,
  };
  rows.add(problem.initial, -1);
  let layerEnd = rows.size;
  for (let row = 0; row < rows.size; row++) {
    if (row === layerEnd) {
      report.depth++;
      layerEnd = rows.size;
    }
    if (rows.size >= statesMax) {
      report.exhausted = false;
      break;
    }
    let moves = 0;
    try {
      problem.expand(rows.read(row), (state) => {
        moves++;
        rows.add(state, row);
      });
    } catch (thrown) {
      if (!(thrown instanceof Violation)) throw thrown;
      report.violation = { rule: thrown.message, trace: traceOf(problem, rows, row) };
      break;
    }
    report.moves += moves;
    if (moves === 0) report.ends++;
  }
  return { ...report, states: rows.size };
}

function traceOf(problem: Problem, rows: Rows, row: number): string[] {
  const trace: string[] = [];
  for (let at = row; rows.parent(at) >= 0; at = rows.parent(at)) {
    const wanted = rows.read(at).join();
    let found = '';
    problem.expand(rows.read(rows.parent(at)), (state, text) => {
      if (found === '' && state.join() === wanted) found = text();
    });
    trace.push(found);
  }
  return trace.reverse();
}
