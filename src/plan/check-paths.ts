/**
 * Paths of tables that would destroy something: what another table writes or reads, or what Thalweg keeps in the bucket.
 *
 * Place in the walk: stage 2. Only the text is known here; what other pipelines write is compared by the API, with the same rules.
 */
import { ownedBy } from '../base/bucket-folders.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { Table } from './table.ts';

type Options = Readonly<Record<string, string | number | boolean>>;

/** A place that a connector reads or writes: an object or file of this name, or for a sink of `r2` all below it. */
export type Place = { connector: string; path: string };

/** The path without what does not change where it leads: `/a/./b/` and `a/c/../b` are `a/b`, as they are of a file. */
function plainPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else parts.push(part);
  }
  return parts.join('/');
}

/** Null: the connector has no path. Folders that rows are dealt to lie below it. */
export function placeOf(connector: string, options: Options): Place | null {
  const { path } = options;
  return typeof path === 'string' ? { connector, path } : null;
}

/** Up to where all keys of the table are alike: of a sink with folders by time that includes what stands before the time. */
export function reachOf({ path, 'partitioning.time_pattern': pattern }: Options): string | null {
  if (typeof path !== 'string') return null;
  const before = typeof pattern === 'string' ? pattern.replace(/^\/+/, '').split('%')[0] : '';
  return before === '' ? path : `${path.replace(/\/+$/, '')}/${before}`;
}

/** How two sinks meet: in one place, or one of them in a folder of the other; null: they do not. */
export function meeting(left: Place, right: Place): 'same' | 'inside' | null {
  const [one, other] = [plainPath(left.path), plainPath(right.path)];
  if (one === other) return left.connector === right.connector ? 'same' : null;
  const within = (folder: Place, outer: string, inner: string): boolean =>
    folder.connector === 'r2' && (outer === '' || inner.startsWith(`${outer}/`));
  return within(left, one, other) || within(right, other, one) ? 'inside' : null;
}

/** Refuses a table that lies among Thalweg's own objects. */
export function checkOwned(table: Table, options: Options, diagnostics: Diagnostics): void {
  const reach = reachOf(options);
  const owned = reach === null ? null : ownedBy(reach);
  if (reach === null || owned === null) return;
  diagnostics.error(
    'RESERVED_PATH',
    reservedMessage(table.name.text, reach, owned),
    spanOf(table),
    RESERVED_EXTRAS,
  );
}

export const reservedMessage = (table: string, path: string, owned: string): string =>
  `"${table}" can not have the path '${path}': Thalweg keeps ${owned} there`;

export const RESERVED_EXTRAS = {
  detail:
    "Objects there are read, written and deleted as Thalweg's own, so a table there would break pipelines and lose its rows.",
  hint: "choose a folder of your own, such as 'output/orders'",
};

const spanOf = (table: Table): Table['span'] => table.written.get('path')?.value.span ?? table.span;

/**
 * Two sinks with one path would write files of the same names, and each would lose what the other wrote; a
 * `single_file` sink over a source would replace what it reads. A sink in a folder of another loses nothing, but whoever reads the
 * outer folder reads the rows of both.
 *
 * @param sinks    tables that are written, in the order of the text
 * @param sources  tables that are read
 */
export function checkPaths(
  sinks: readonly Table[],
  sources: readonly Table[],
  diagnostics: Diagnostics,
): void {
  const before: Writer[] = [];
  for (const table of sinks) {
    const place = table.sink === null ? null : placeOf(table.sink.connector, table.sink.options);
    if (place === null) continue;
    checkReaders(table, place, sources, diagnostics);
    checkWriters(table, place, before, diagnostics);
    before.push({ table, place });
  }
}

type Writer = { table: Table; place: Place };

function checkReaders(
  table: Table,
  { connector, path }: Place,
  sources: readonly Table[],
  diagnostics: Diagnostics,
): void {
  if (connector !== 'single_file') return;
  const reader = sources.find((source) => {
    const read = pathOf(source);
    return read !== null && plainPath(read) === plainPath(path);
  });
  if (reader === undefined) return;
  diagnostics.error(
    'INVALID_SINK',
    `"${table.name.text}" would overwrite '${path}', which "${reader.name.text}" reads`,
    spanOf(table),
    { hint: 'give the sink a path of its own' },
  );
}

/** As it is written: of a file and of an object of the bucket alike. */
function pathOf(table: Table): string | null {
  const value = table.written.get('path')?.value;
  return value?.tag === 'string' ? value.value : null;
}

function checkWriters(
  table: Table,
  place: Place,
  before: readonly Writer[],
  diagnostics: Diagnostics,
): void {
  const met = (how: 'same' | 'inside'): Writer | undefined =>
    before.find((other) => meeting(other.place, place) === how);
  const same = met('same');
  if (same !== undefined) {
    diagnostics.error(
      'INVALID_SINK',
      `"${table.name.text}" and "${same.table.name.text}" write to the same path '${place.path}'`,
      spanOf(table),
      { hint: 'give each its own path, or INSERT twice INTO one table' },
    );
    return;
  }
  const outer = met('inside');
  if (outer === undefined) return;
  diagnostics.warn(
    'SHARED_PATH',
    `"${table.name.text}" and "${outer.table.name.text}" write under one path, '${place.path}' and '${outer.place.path}'`,
    spanOf(table),
    {
      detail: 'Whoever reads the outer folder reads the rows of both.',
      hint: 'give each a folder beside that of the other',
    },
  );
}
