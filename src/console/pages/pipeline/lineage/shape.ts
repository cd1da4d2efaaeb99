/** The river as curves: where its line lies, how wide it is. Pure; x and y in CSS pixels. */
import type { RiverLayout, RiverNode } from './layout.ts';

export type Scale = {
  /** Width of a column. */
  step: number;
  /** Height of the middle of the line. */
  middle: number;
};

const ROW = 46;
const FIRST_ROW = 82;

/** A line that meanders, so that a river is seen and not a ruler; at one zoom a column is always at the same height. */
const bend = (x: number): number => Math.sin(x * 0.012) * 13 + Math.sin(x * 0.0044 + 1) * 9;

export const xOf = (column: number, { step }: Scale): number => round((column + 0.5) * step);

export function yOf(column: number, row: number, scale: Scale): number {
  if (row === 0) return round(scale.middle + bend((column + 0.5) * scale.step));
  return round(scale.middle + FIRST_ROW + (row - 1) * ROW);
}

/** Height that a picture with so many rows beside the line needs. */
export const heightOf = (rows: number, { middle }: Scale): number =>
  middle + (rows === 0 ? 52 : FIRST_ROW + (rows - 1) * ROW + 44);

/** The line from one column to another, both included. */
export function linePath(from: number, to: number, scale: Scale): string {
  return `M${points(from, to, scale, 0).join('L')}`;
}

/** Between the banks; `widths` by column, from 0 to 1. */
export function waterPath(
  from: number,
  to: number,
  widths: (column: number) => number,
  scale: Scale,
  depth: number,
): string {
  if (to <= from) return '';
  const side = (sign: number): string[] =>
    columnsBetween(from, to, scale).map((column) => {
      const half = (7 + 19 * smooth(widths, column)) * depth;
      return `${xOf(column, scale)},${round(yOf(column, 0, scale) + sign * half)}`;
    });
  return `M${side(-1).join('L')}L${side(1).reverse().join('L')}Z`;
}

function points(from: number, to: number, scale: Scale, offset: number): string[] {
  return columnsBetween(from, to, scale).map(
    (column) => `${xOf(column, scale)},${round(yOf(column, 0, scale) + offset)}`,
  );
}

/** Often enough for a curve of about eight pixels a piece. */
function columnsBetween(from: number, to: number, { step }: Scale): number[] {
  const pieces = Math.max(1, Math.min(8, Math.round(step / 8)));
  const columns: number[] = [];
  for (let index = 0; index <= Math.round((to - from) * pieces); index++)
    columns.push(from + index / pieces);
  return columns;
}

function smooth(widths: (column: number) => number, column: number): number {
  const left = Math.floor(column);
  const part = column - left;
  const eased = (1 - Math.cos(part * Math.PI)) / 2;
  return widths(left) * (1 - eased) + widths(left + 1) * eased;
}

/** How wide the river is at each column: by the rows that the epoch read, in proportion to the most. */
export function widthsOf({ line }: RiverLayout): (column: number) => number {
  const rows = new Map(line.map((node) => [node.column, rowsOf(node)]));
  const most = Math.max(1, ...rows.values());
  return (column) => Math.sqrt((rows.get(column) ?? 0) / most);
}

const rowsOf = ({ canonical }: RiverNode): number => canonical?.detail?.input_rows ?? 0;

/** From the line to a node beside it, leaving in the direction of the flow. */
export function branchPath(
  fromColumn: number,
  toColumn: number,
  row: number,
  scale: Scale,
): string {
  const start = { x: xOf(fromColumn, scale), y: yOf(fromColumn, 0, scale) };
  const end = { x: xOf(toColumn, scale), y: yOf(toColumn, row, scale) };
  const turn = start.x + Math.max(8, (end.x - start.x) * 0.6);
  return `M${start.x},${start.y}C${round(turn)},${start.y} ${start.x},${end.y} ${end.x},${end.y}`;
}

const round = (value: number): number => Math.round(value * 10) / 10;
