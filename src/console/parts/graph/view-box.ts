/** Where a drawing stands in its window, and how large: moved and zoomed within bounds. Pure. */
import { type GraphLayout, type PlacedNode, type Point, scaleToFit, type Size } from './layout.ts';

/** Screen = drawing × scale + (x, y). */
export type View = { x: number; y: number; scale: number };

const LEAST = 0.2;
const MOST = 2;
/** Below this the text of a node can not be read: the drawing is then scrolled rather than shrunk. */
const LEAST_AT_FIRST = 0.55;

/** The whole graph in the middle, or its beginning where it would become too small. */
export function fit(drawn: GraphLayout, room: Size): View {
  const scale = Math.max(LEAST_AT_FIRST, scaleToFit(drawn, room));
  return {
    scale,
    x: Math.max(0, (room.width - drawn.width * scale) / 2),
    y: Math.max(0, (room.height - drawn.height * scale) / 2),
  };
}

/** @param at  the point of the window that stays where it is */
export function zoom(view: View, factor: number, at: Point): View {
  const scale = Math.min(MOST, Math.max(LEAST, view.scale * factor));
  const grown = scale / view.scale;
  return { scale, x: at.x - (at.x - view.x) * grown, y: at.y - (at.y - view.y) * grown };
}

const KEPT_IN_SIGHT = 48;

/** A part of the drawing always stays in the window. */
export function pan(view: View, dx: number, dy: number, drawn: Size, room: Size): View {
  const bound = (value: number, length: number, window: number): number =>
    Math.min(window - KEPT_IN_SIGHT, Math.max(KEPT_IN_SIGHT - length * view.scale, value));
  return {
    scale: view.scale,
    x: bound(view.x + dx, drawn.width, room.width),
    y: bound(view.y + dy, drawn.height, room.height),
  };
}

const EDGE = 12;

/** Moved just as far as is needed for a node to be in sight. */
export function reveal(view: View, node: PlacedNode, room: Size): View {
  const shift = (start: number, length: number, window: number): number => {
    if (start < EDGE) return EDGE - start;
    const over = start + length - (window - EDGE);
    return over > 0 ? -Math.min(over, start - EDGE) : 0;
  };
  const left = node.x * view.scale + view.x;
  const top = node.y * view.scale + view.y;
  return {
    scale: view.scale,
    x: view.x + shift(left, node.width * view.scale, room.width),
    y: view.y + shift(top, node.height * view.scale, room.height),
  };
}
