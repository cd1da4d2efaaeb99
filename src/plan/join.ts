/**
 * The join node: what it tells of its rows is derived here from its sides, its kind and what time has to do with it.
 *
 * A join by interval, window, lookup or as-of emits rows that stay. One that is bounded by nothing (or a time to live)
 * takes rows back when a side does, and when an outer or anti row that was thought to have no match gets one.
 */
import { assert } from '../base/assert.ts';
import type { Field, Schema } from '../batch/types.ts';
import type { JoinKind, JoinNode, JoinTime, NodeShape, PlanNode } from './logical.ts';

export type JoinParts = Omit<JoinNode, keyof NodeShape | 'tag'>;

export function makeJoin(parts: JoinParts): JoinNode {
  const { kind, left, right, leftKeys, rightKeys, nullsMeet, residual, time } = parts;
  assert(leftKeys.length === rightKeys.length, 'the keys of a join come in pairs');
  return {
    tag: 'join',
    kind,
    left,
    right,
    leftKeys,
    rightKeys,
    nullsMeet,
    residual,
    time,
    schema: schemaOf(parts),
    updating: isUpdating(parts),
    keys: keysOf(parts),
    eventTime: followsLeft(kind, time) ? left.eventTime : left.eventTime && right.eventTime,
    windows: windowsOf(parts),
  };
}

/** Whether only rows of the left side come out. */
export const keepsLeftOnly = (kind: JoinKind): boolean => kind === 'semi' || kind === 'anti';

/** Whether a left row without a match comes out, with NULLs for the right side. */
export const padsRight = (kind: JoinKind): boolean => kind === 'left' || kind === 'full';

/** Whether a right row without a match comes out, with NULLs for the left side. */
export const padsLeft = (kind: JoinKind): boolean => kind === 'right' || kind === 'full';

/** Whether a row that comes out has the event time of its left side. */
const followsLeft = (kind: JoinKind, time: JoinTime): boolean =>
  keepsLeftOnly(kind) || time.tag === 'lookup' || time.tag === 'as-of';

/** What has met the last row has met it for good; a table that is read first does not change any more. */
function isUpdating({ kind, left, right, time }: JoinParts): boolean {
  if (time.tag === 'as-of') return false;
  return left.updating || (right.updating && time.tag !== 'lookup') || takesBack(kind, time);
}

/** Whether rows come out before it is sure that they stay. */
const takesBack = (kind: JoinKind, time: JoinTime): boolean =>
  time.tag === 'any' && kind !== 'inner' && kind !== 'semi';

function schemaOf({ kind, left, right, leftKeys, rightKeys, nullsMeet }: JoinParts): Schema {
  if (keepsLeftOnly(kind)) return left.schema;
  const padded = (schema: Schema, pads: boolean): Field[] =>
    schema.map((field) => (pads ? { ...field, nullable: true } : field));
  const schema = [...padded(left.schema, padsLeft(kind)), ...padded(right.schema, padsRight(kind))];
  if (kind !== 'inner') return schema;
  // A key of a row that met another is present.
  leftKeys.forEach((key, index) => {
    const other = rightKeys[index];
    if (nullsMeet[index] === true) return;
    if (key.tag === 'column')
      schema[key.index] = { ...(schema[key.index] as Field), nullable: false };
    if (other?.tag === 'column') {
      const place = left.schema.length + other.index;
      schema[place] = { ...(schema[place] as Field), nullable: false };
    }
  });
  return schema;
}

/** The columns that tell two rows of an updating result apart. */
function keysOf({ kind, left, right }: JoinParts): readonly number[] | null {
  if (keepsLeftOnly(kind)) return left.keys;
  if (left.keys === null || right.keys === null) return null;
  return [...left.keys, ...right.keys.map((key) => left.schema.length + key)];
}

/** A row keeps the window of a side as long as its event time lies within it. */
function windowsOf({ kind, left, right, time }: JoinParts): JoinNode['windows'] {
  const none = (side: PlanNode): null[] => side.schema.map(() => null);
  if (keepsLeftOnly(kind))
    return time.tag === 'window' || time.tag === 'lookup' ? left.windows : none(left);
  if (time.tag === 'lookup' || time.tag === 'as-of') return [...left.windows, ...none(right)];
  if (time.tag !== 'window') return [...none(left), ...none(right)];
  return [
    ...(padsLeft(kind) ? none(left) : left.windows),
    ...(padsRight(kind) ? none(right) : right.windows),
  ];
}
