/** What JSON functions make of the values that a JSONPath finds. A path that is none is an error of its row, or of the query. */
import type { Column, TextColumn } from '../../batch/column.ts';
import type { Evaluate, ScalarFunction } from '../function-types.ts';
import { found } from '../json/json-bytes.ts';
import type { JsonPath } from '../json/json-path.ts';
import { eachNode, parseJsonPath } from '../json/json-path.ts';
import { TextSink, textAt } from '../text-sink.ts';
import { Outcome, strideOf } from '../vector.ts';
import { locate } from './json-rows.ts';
import { ListTextSink } from './list-text-sink.ts';

const PATHS = new Map<string, JsonPath | null>();
function pathOf(text: string): JsonPath | null {
  let path = PATHS.get(text);
  if (path === undefined) {
    if (PATHS.size > 256) PATHS.clear();
    path = parseJsonPath(text);
    PATHS.set(text, path);
  }
  return path;
}

const badPath = (text: string): string =>
  `'${text}' is no JSONPath; write $.name, $['name'], $[0], $[*] or $..name`;

/** @param each  gets every node of a row until it gives false; the answer: whether the row has a value */
const byJsonPath = (
  args: readonly Column[],
  rows: number,
  outcome: Outcome,
  each: (bytes: Uint8Array, at: number, end: number) => boolean,
  endRow: (row: number, present: boolean) => void,
): void => {
  const [input, path] = args as readonly [TextColumn, TextColumn];
  for (let row = 0; row < rows; row++) {
    let present = false;
    if (outcome.has(row)) {
      const text = textAt(path, row * strideOf(path));
      const steps = pathOf(text);
      if (steps === null) outcome.fail(row, 'PARSE_ERROR', () => badPath(text));
      else if (locate([input], row)) {
        present = true;
        eachNode(steps, input.bytes, found.at, found.end, (at, end) => each(input.bytes, at, end));
      }
    }
    endRow(row, present);
  }
};

export const firstNode =
  (write: (bytes: Uint8Array, at: number, end: number, sink: TextSink) => void): Evaluate =>
  (args, rows, errors) => {
    const outcome = new Outcome(args, rows, errors);
    const sink = new TextSink(rows, 16 * rows);
    let any = false;
    byJsonPath(
      args,
      rows,
      outcome,
      (bytes, at, end) => {
        any = true;
        write(bytes, at, end, sink);
        return false;
      },
      (row) => {
        if (!any) outcome.makeNull(row);
        any = false;
        sink.endRow();
      },
    );
    return sink.finish(outcome.validity);
  };

export const allNodes: Evaluate = (args, rows, errors, type) => {
  const outcome = new Outcome(args, rows, errors);
  const sink = new ListTextSink(rows, errors);
  byJsonPath(
    args,
    rows,
    outcome,
    (bytes, at, end) => {
      sink.push(bytes, at, end);
      return true;
    },
    (_row, present) => sink.endRow(present),
  );
  return sink.finish(type);
};

export const checkPath: NonNullable<ScalarFunction['check']> = ([, path]) =>
  typeof path !== 'string' || parseJsonPath(path) !== null ? null : badPath(path);
