/** How places and stretches of a text lie to each other. */
import type { Position, Span } from '../../base/errors.ts';

export const at = (position: Position): Span => ({ start: position, end: position });

export const isBefore = (left: Position, right: Position): boolean =>
  left.line < right.line || (left.line === right.line && left.column < right.column);

export const samePlace = (left: Position, right: Position): boolean =>
  left.line === right.line && left.column === right.column;

export const covers = (outer: Span, inner: Span): boolean =>
  !isBefore(inner.start, outer.start) && !isBefore(outer.end, inner.end);
