/**
 * Compares state files and committed output with what the canonical manifests say of them, byte for byte by hash, and
 * looks for output beside it that no committed epoch names.
 *
 * Failure: `unavailable` when the store does not answer; everything else is a finding.
 */
import { EngineError } from '../base/errors.ts';
import { endsInPieces, footerOfFile } from '../formats/parquet/joined-file.ts';
import { contentHash } from '../lineage/content-hash.ts';
import { unavailable } from '../lineage/context.ts';
import type { Unavailable } from '../lineage/context.ts';
import { fileIsIntact } from '../lineage/invariants.ts';
import { listEpochs } from '../lineage/open.ts';
import { get, listAll } from '../lineage/store.ts';
import type { Lineage } from '../lineage/store.ts';
import type { StateFile } from '../lineage/types.ts';
import { readEpoch } from './evidence.ts';
import type { Evidence, Line } from './evidence.ts';
import type { AuditCounts, Finding } from './findings.ts';
import { type OutputPiece, piecesOf } from './totals.ts';

/** Name of a committed object: `…/part-{epoch}-{subtask}-{index}-{writer}.ndjson` or `.parquet`, by `partName`. */
const PART = /^part-(\d{7,})-\d{3,}-\d{4,}-.+\.(?:ndjson|parquet)$/;

/** Every state file that a checkpoint of the line names. */
export function* checkFiles(
  line: Line,
  broken: ReadonlySet<number>,
  counts: AuditCounts,
  findings: Finding[],
): Lineage<Unavailable | null> {
  const files = new Map<string, { epoch: number; file: StateFile }>();
  for (const { epoch, manifest } of line.evidence.values()) {
    if (broken.has(epoch)) continue;
    for (const file of manifest?.files ?? [])
      if (!files.has(file.key)) files.set(file.key, { epoch, file });
  }
  for (const [key, { epoch, file }] of files) {
    const answer = yield* get(key);
    if (answer.tag === 'unanswered') return unavailable(answer.message);
    const what = `state file of ${file.operator}, table ${file.table}, that epoch ${epoch} names`;
    if (answer.tag === 'missing') {
      findings.push({ code: 'STATE_MISSING', epoch, key, message: `the ${what} is missing` });
      continue;
    }
    counts.stateFiles++;
    counts.stateBytes += answer.body.length;
    if (fileIsIntact(file, answer.body.length, contentHash(answer.body))) continue;
    const message = `the ${what} is not what was written: ${answer.body.length} bytes instead of ${file.size}, or other ones`;
    findings.push({ code: 'STATE_ALTERED', epoch, key, message });
  }
  return null;
}

/** A piece of output and the epoch that commits it. `certain`: the commit has happened for sure. */
type Expected = { epoch: number; piece: OutputPiece; certain: boolean };

/** All committed output of the line, and everything that lies beside it. @returns what could not be checked */
export function* checkOutputs(
  line: Line,
  broken: ReadonlySet<number>,
  counts: AuditCounts,
  findings: Finding[],
): Lineage<{ tag: 'checked'; notes: string[] } | Unavailable> {
  const expected = expectedOf(line, broken);
  findTwice(expected, findings);
  const notes: string[] = [];
  const appended = new Map<string, Expected[]>();
  for (const each of expected) {
    const { key, target } = each.piece;
    if (target !== key) {
      appended.set(target, [...(appended.get(target) ?? []), each]);
      continue;
    }
    const failed = yield* checkPart(each, counts, findings);
    if (failed !== null) return failed;
  }
  for (const [target, pieces] of appended) {
    const failed = yield* checkAppended(line, target, pieces, broken, counts, findings, notes);
    if (failed !== null) return failed;
  }
  const failed = yield* findUnknown(line, broken, expected, findings, notes);
  return failed ?? { tag: 'checked', notes };
}

function expectedOf(line: Line, broken: ReadonlySet<number>): Expected[] {
  const expected: Expected[] = [];
  for (const { epoch, manifest, marker } of line.evidence.values()) {
    if (manifest === null || broken.has(epoch)) continue;
    const certain = marker === 'found' || epoch < line.last;
    for (const piece of piecesOf(manifest.items)) expected.push({ epoch, piece, certain });
  }
  return expected;
}

function findTwice(expected: readonly Expected[], findings: Finding[]): void {
  const known = new Map<string, number>();
  for (const { epoch, piece } of expected) {
    const { key } = piece;
    const before = known.get(key);
    if (before === undefined) known.set(key, epoch);
    else
      findings.push({
        code: 'OUTPUT_TWICE',
        epoch,
        key,
        message: `epoch ${epoch} commits ${key} again, which epoch ${before} did`,
      });
  }
}

function tally(counts: AuditCounts, { rows, size }: OutputPiece): void {
  counts.outputs++;
  counts.outputRows += rows;
  counts.outputBytes += size;
}

function* checkPart(
  { epoch, piece, certain }: Expected,
  counts: AuditCounts,
  findings: Finding[],
): Lineage<Unavailable | null> {
  const { key, size, hash } = piece;
  const answer = yield* get(key);
  if (answer.tag === 'unanswered') return unavailable(answer.message);
  if (answer.tag === 'missing') {
    if (certain)
      findings.push({
        code: 'OUTPUT_MISSING',
        epoch,
        key,
        message: `output that epoch ${epoch} committed is missing`,
      });
    return null;
  }
  tally(counts, piece);
  const intact =
    answer.body.length === size && (hash === null || contentHash(answer.body) === hash);
  if (!intact) {
    const message = `output of epoch ${epoch} is not what was committed: ${answer.body.length} bytes instead of ${size}, or other ones`;
    findings.push({ code: 'OUTPUT_ALTERED', epoch, key, message });
  }
  return null;
}

/** An object that pieces are appended to ends with those of the line, in the order of epochs, sinks' subtasks and indices. */
function* checkAppended(
  line: Line,
  key: string,
  pieces: readonly Expected[],
  broken: ReadonlySet<number>,
  counts: AuditCounts,
  findings: Finding[],
  notes: string[],
): Lineage<Unavailable | null> {
  const answer = yield* get(key);
  if (answer.tag === 'unanswered') return unavailable(answer.message);
  const certain = pieces.filter((each) => each.certain);
  const [first] = certain;
  if (answer.tag === 'missing') {
    if (first !== undefined)
      findings.push({
        code: 'OUTPUT_MISSING',
        epoch: first.epoch,
        key,
        message: `output that epoch ${first.epoch} committed is missing`,
      });
    return null;
  }
  if (broken.size > 0) {
    notes.push(`${key} was not compared: it is made of all epochs, and not all can be read`);
    return null;
  }
  // What is still being committed may be there, whole, or not.
  const whole = line.first <= 1;
  const all = compareEnd(answer.body, pieces, whole);
  for (const { piece } of all === null ? pieces : certain) tally(counts, piece);
  const wrong = all === null ? null : compareEnd(answer.body, certain, whole);
  if (wrong !== null) findings.push({ ...wrong, key });
  return null;
}

/** Null: `body` ends with the pieces; with `whole`, it is nothing else. Behind files of Parquet stands one footer for all. */
function compareEnd(
  body: Uint8Array,
  pieces: readonly Expected[],
  whole: boolean,
): Omit<Finding, 'key'> | null {
  if (pieces[0]?.piece.key.endsWith('.parquet') !== true) return comparePieces(body, pieces, whole);
  const epoch = pieces[0].epoch;
  try {
    const { start } = footerOfFile(body);
    const wrong = comparePieces(body.subarray(0, start), pieces, whole);
    if (wrong !== null) return wrong;
    let at = start - pieces.reduce((total, { piece }) => total + piece.size, 0);
    const files = pieces.map(({ piece }) => body.subarray(at, (at += piece.size)));
    if (endsInPieces(body, files, whole)) return null;
    const message = 'its footer does not name what was committed';
    return { code: 'OUTPUT_ALTERED', epoch, message };
  } catch (thrown) {
    if (!(thrown instanceof EngineError)) throw thrown;
    return { code: 'OUTPUT_ALTERED', epoch, message: thrown.message };
  }
}

function comparePieces(
  body: Uint8Array,
  pieces: readonly Expected[],
  whole: boolean,
): Omit<Finding, 'key'> | null {
  const length = pieces.reduce((total, { piece }) => total + piece.size, 0);
  let at = body.length - length;
  // Where something was added in the middle, comparing from the front finds the first piece that is not in its place.
  if (whole) at = 0;
  else if (at < 0) {
    const message = `it has ${body.length} bytes, the epochs that are kept committed ${length}`;
    return { code: 'OUTPUT_ALTERED', epoch: pieces[0]?.epoch ?? null, message };
  }
  for (const { epoch, piece } of pieces) {
    const part = body.subarray(at, at + piece.size);
    at += piece.size;
    if (part.length === piece.size && (piece.hash === null || contentHash(part) === piece.hash))
      continue;
    const message = `the rows that epoch ${epoch} committed are not where they belong`;
    return { code: 'OUTPUT_ALTERED', epoch, message };
  }
  if (at === body.length) return null;
  const message = `${body.length - at} bytes stand behind what was committed`;
  return { code: 'OUTPUT_UNKNOWN', epoch: null, message };
}

/** Parts beside the committed ones: of a second commit, or of a checkpoint that is not canonical. */
function* findUnknown(
  line: Line,
  broken: ReadonlySet<number>,
  expected: readonly Expected[],
  findings: Finding[],
  notes: string[],
): Lineage<Unavailable | null> {
  const parts = expected
    .filter(({ piece }) => piece.key === piece.target)
    .map(({ piece }) => piece.key);
  const known = new Set(parts);
  const suspects: { key: string; epoch: number }[] = [];
  const folders = new Set(parts.map((key) => key.slice(0, key.lastIndexOf('/') + 1)));
  for (const folder of folders) {
    const listed = yield* listAll(folder);
    if (listed.tag === 'unanswered') return unavailable(listed.message);
    for (const key of listed.keys) {
      const label = PART.exec(key.slice(folder.length))?.[1];
      if (label !== undefined && !known.has(key)) suspects.push({ key, epoch: Number(label) });
    }
  }
  if (suspects.length === 0) return null;
  const newer = yield* newerParts(line);
  if (newer.tag === 'unavailable') return newer;
  let older = 0;
  for (const { key, epoch } of suspects) {
    // Rows are staged for the next epoch; that of an attempt that is retried is then the one before.
    const earliest = epoch - 1;
    if (line.first > 1 && earliest < line.first) older++;
    else if (!newer.keys.has(key) && ![...broken].some((each) => each >= earliest)) {
      const message = `no committed epoch names this output, which was staged for epoch ${epoch}`;
      findings.push({ code: 'OUTPUT_UNKNOWN', epoch, key, message });
    }
  }
  if (older > 0)
    notes.push(
      `${older} output objects are older than epoch ${line.first}, the oldest one kept, and were not compared`,
    );
  return null;
}

/** Output of epochs that came while this one was reading. */
function* newerParts(line: Line): Lineage<{ tag: 'parts'; keys: Set<string> } | Unavailable> {
  const keys = new Set<string>();
  const listed = yield* listEpochs(line.paths, line.last + 1);
  if (listed.tag === 'unavailable') return listed;
  for (const epoch of listed.epochs) {
    const found = yield* readEpoch(line.paths, epoch, epoch, []);
    if (found.tag === 'unavailable') return found;
    const evidence: Evidence | null = found.tag === 'evidence' ? found.evidence : null;
    for (const { key } of piecesOf(evidence?.manifest?.items ?? [])) keys.add(key);
  }
  return { tag: 'parts', keys };
}
