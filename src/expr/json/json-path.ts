/**
 * JSONPath: `$`, `.name`, `['name']`, `[0]`, `[-1]`, `[1:3]`, `[*]`, `.*`, `..name`, and several of these in one pair of
 * brackets. Filters are not supported. Nodes come in the order of the text.
 */
import { encodeText } from '../text-sink.ts';
import { eachMember, isKey, kindOf, memberCount } from './json-bytes.ts';

type Selector =
  | { tag: 'name'; bytes: Uint8Array }
  | { tag: 'index'; index: number }
  | { tag: 'slice'; from: number | null; to: number | null; step: number }
  | { tag: 'all' };
type Segment = { deep: boolean; selectors: readonly Selector[] };
export type JsonPath = readonly Segment[];

const STEP =
  /^(\.\.|\.)?(?:([^\W\d][\w-]*|[^ -~\s][^.[\s]*)|(\*)|\[((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\]'"])*)\])/;

function selectorOf(text: string): Selector | null {
  const trimmed = text.trim();
  if (trimmed === '*') return { tag: 'all' };
  if (/^-?\d{1,15}$/.test(trimmed)) return { tag: 'index', index: Number(trimmed) };
  const slice = /^(-?\d*)\s*:\s*(-?\d*)\s*(?::\s*(-?\d+))?$/.exec(trimmed);
  if (slice !== null) {
    const bound = (part: string | undefined): number | null =>
      part === undefined || part === '' ? null : Number(part);
    return { tag: 'slice', from: bound(slice[1]), to: bound(slice[2]), step: bound(slice[3]) ?? 1 };
  }
  const quote = trimmed.charAt(0);
  if ((quote !== "'" && quote !== '"') || !trimmed.endsWith(quote) || trimmed.length < 2)
    return null;
  const inner = trimmed.slice(1, -1).replaceAll("\\'", "'");
  try {
    const name = JSON.parse(`"${inner.replaceAll(/(?<!\\)"/g, '\\"')}"`) as string;
    return { tag: 'name', bytes: encodeText(name) };
  } catch {
    return null;
  }
}

/** The parts of brackets between commas that are not inside quotes. */
const partsOf = (text: string): string[] =>
  text.match(/(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,])+/g) ?? [];

/** Null: it is no JSONPath of this kind. */
export function parseJsonPath(path: string): JsonPath | null {
  if (!path.startsWith('$')) return null;
  const segments: Segment[] = [];
  let rest = path.slice(1);
  while (rest !== '') {
    const step = STEP.exec(rest);
    if (step === null) return null;
    const [all, dots, name, star, brackets] = step;
    // A name or a star needs a dot before it, brackets none or two.
    if (
      (brackets === undefined) === (dots === undefined) ||
      (brackets !== undefined && dots === '.')
    )
      return null;
    const selectors =
      name !== undefined
        ? [{ tag: 'name' as const, bytes: encodeText(name) }]
        : star !== undefined
          ? [{ tag: 'all' as const }]
          : partsOf(brackets ?? '').map(selectorOf);
    if (selectors.length === 0 || selectors.includes(null)) return null;
    segments.push({ deep: dots === '..', selectors: selectors as Selector[] });
    rest = rest.slice(all.length);
  }
  return segments;
}

/** Gets where a node begins and ends; false ends the search. */
type Node = (at: number, end: number) => boolean;

/** Whether the search goes on. */
export function eachNode(
  path: JsonPath,
  bytes: Uint8Array,
  at: number,
  end: number,
  node: Node,
  segment = 0,
): boolean {
  const step = path[segment];
  if (step === undefined) return node(at, end);
  for (const selector of step.selectors)
    if (!select(path, bytes, at, end, node, segment, selector)) return false;
  if (!step.deep) return true;
  let goes = true;
  const kind = kindOf(bytes, at);
  if (kind === 'object' || kind === 'array')
    eachMember(bytes, at, end, (_key, _keyEnd, value, valueEnd) => {
      goes = eachNode(path, bytes, value, valueEnd, node, segment);
      return goes;
    });
  return goes;
}

function select(
  path: JsonPath,
  bytes: Uint8Array,
  at: number,
  end: number,
  node: Node,
  segment: number,
  selector: Selector,
): boolean {
  const kind = kindOf(bytes, at);
  if (kind !== 'object' && kind !== 'array') return true;
  const wants = wanted(selector, kind, () => memberCount(bytes, at, end));
  if (wants === null) return true;
  let goes = true;
  eachMember(bytes, at, end, (key, keyEnd, value, valueEnd, index) => {
    const isIt =
      selector.tag === 'name'
        ? isKey(bytes, key, keyEnd, selector.bytes, 0, selector.bytes.length)
        : wants(index);
    if (isIt) goes = eachNode(path, bytes, value, valueEnd, node, segment + 1);
    return goes;
  });
  return goes;
}

/** Which elements a selector takes; null: none of a value of this kind. */
function wanted(
  selector: Selector,
  kind: 'object' | 'array',
  count: () => number,
): ((index: number) => boolean) | null {
  if (selector.tag === 'all') return () => true;
  if (selector.tag === 'name') return kind === 'object' ? () => false : null;
  if (kind === 'object') return null;
  if (selector.tag === 'index') {
    const index = selector.index < 0 ? count() + selector.index : selector.index;
    return (place) => place === index;
  }
  const size = count();
  const { step } = selector;
  if (step <= 0) return () => false;
  const clamp = (bound: number): number =>
    Math.min(size, Math.max(0, bound < 0 ? size + bound : bound));
  const from = clamp(selector.from ?? 0);
  const to = clamp(selector.to ?? size);
  return (place) => place >= from && place < to && (place - from) % step === 0;
}
