/**
 * Whether what checkpoints say of their input fits together: pure functions over a manifest and its parent's.
 *
 * Place in the walk: stage 8, asserted before every claim, and in audits. INV-11: along the canonical line each range
 * begins where the one before it ended, at the parent's offset. Fences hand offsets on unchanged, also those that reset
 * state. A partition of which no offset is known begins at its start.
 *
 * Failure: none; what does not fit is returned, one flaw each.
 */
import type { CheckpointManifest, InputRange, JsonValue } from './types.ts';

export type InputFlaw = {
  tag: 'gap' | 'overlap' | 'offset' | 'count';
  operator: string;
  partition: number;
  /** One line for people. */
  message: string;
};

/** Offsets by operator and partition. */
type Offsets = ReadonlyMap<string, JsonValue>;

const keyOf = (operator: string, partition: string | number): string => `${operator}/${partition}`;

/** The source offsets of a checkpoint; none before the first. */
export function offsetsOf(manifest: CheckpointManifest | null): Map<string, JsonValue> {
  const offsets = new Map<string, JsonValue>();
  for (const { operator, table, value } of manifest?.broadcast ?? []) {
    if (table !== 'offsets' || value === null || typeof value !== 'object') continue;
    if (Array.isArray(value)) continue;
    for (const [partition, offset] of Object.entries(value))
      offsets.set(keyOf(operator, partition), offset);
  }
  return offsets;
}

/** Ranges that do not begin where the one before ended; none when the checkpoint does not tell its input. */
export function tornRanges(
  parent: CheckpointManifest | null,
  manifest: CheckpointManifest,
): InputFlaw[] {
  return follow(offsetsOf(parent), manifest.inputs ?? [], true).flaws;
}

/**
 * Everything that contradicts itself in the input of a checkpoint; nothing when it does not tell its input.
 *
 * @param parent undefined: not known, so that beginnings cannot be checked
 */
export function inputFlaws(
  parent: CheckpointManifest | null | undefined,
  manifest: CheckpointManifest,
): InputFlaw[] {
  if (manifest.inputs === null) return [];
  const known = parent !== undefined;
  const { flaws, ends } = follow(offsetsOf(parent ?? null), manifest.inputs, known);
  const own = offsetsOf(manifest);
  for (const [key, offset] of own) {
    const end = ends.get(key);
    if (end === undefined ? !known || isStart(offset) : same(end, offset)) continue;
    const told = end === undefined ? 'at the start' : `at ${show(end)}`;
    flaws.push(offsetFlaw(key, `the state goes on at ${show(offset)}, the ranges end ${told}`));
  }
  for (const key of ends.keys())
    if (!own.has(key)) flaws.push(offsetFlaw(key, 'the state does not tell where to go on'));
  for (const range of manifest.inputs) {
    const wrong = wrongCount(range);
    if (wrong !== null) flaws.push(flawOf('count', range, wrong));
  }
  return flaws;
}

/** Goes along the ranges from `before`; where each partition ends. */
function follow(
  before: Offsets,
  ranges: readonly InputRange[],
  known: boolean,
): { flaws: InputFlaw[]; ends: Map<string, JsonValue> } {
  const flaws: InputFlaw[] = [];
  const ends = new Map(before);
  for (const range of ranges) {
    const key = keyOf(range.operator, range.partition);
    const end = ends.get(key);
    ends.set(key, range.to);
    if (end === undefined ? !known || isStart(range.from) : same(end, range.from)) continue;
    const from = positionOf(range.from);
    const expected = end === undefined ? 0 : positionOf(end);
    const tag = from !== null && expected !== null && from < expected ? 'overlap' : 'gap';
    const wanted = end === undefined ? 'the start' : show(end);
    flaws.push(flawOf(tag, range, `begins at ${show(range.from)} instead of ${wanted}`));
  }
  return { flaws, ends };
}

/** What an offset counts: rows, or bytes as `offset`, or events as `next`; null when it counts nothing known. */
export function positionOf(offset: JsonValue): number | null {
  if (typeof offset === 'number') return offset;
  if (offset === null || typeof offset !== 'object' || Array.isArray(offset)) return null;
  const position = offset['offset'] ?? offset['next'];
  return typeof position === 'number' ? position : null;
}

/** A number counts rows and `offset` bytes, so a range has to have as many. Null: it has, or nobody can tell. */
function wrongCount({ from, to, rows, bytes }: InputRange): string | null {
  const first = positionOf(from);
  const last = positionOf(to);
  if (first === null || last === null) return null;
  if (last < first) return `ends at ${show(to)}, before it begins`;
  const length = last - first;
  if (typeof from === 'number')
    return rows === length ? null : `holds ${rows} rows, its offsets say ${length}`;
  const isBytes = to !== null && typeof to === 'object' && 'offset' in to;
  // A byte order mark at the very start is no input.
  if (!isBytes || bytes === length || (first === 0 && bytes === length - 3)) return null;
  return `holds ${bytes} bytes, its offsets say ${length}`;
}

const isStart = (offset: JsonValue): boolean => (positionOf(offset) ?? 0) === 0;
const show = (offset: JsonValue): string => JSON.stringify(offset);
const same = (left: JsonValue, right: JsonValue): boolean => show(left) === show(right);

function flawOf(tag: InputFlaw['tag'], range: InputRange, what: string): InputFlaw {
  const { operator, partition } = range;
  return {
    tag,
    operator,
    partition,
    message: `${operator}, partition ${partition}: the input ${what}`,
  };
}

function offsetFlaw(key: string, what: string): InputFlaw {
  const at = key.lastIndexOf('/');
  const operator = key.slice(0, at);
  const partition = Number(key.slice(at + 1));
  return {
    tag: 'offset',
    operator,
    partition,
    message: `${operator}, partition ${partition}: ${what}`,
  };
}
