/**
 * Where the nodes and edges of a query's graph are drawn: layers by dagre, from the sources to the sinks. Pure.
 *
 * Every size is in CSS pixels. A node that a reader opens keeps its place as long as the graph and the height of its footer
 * stay the same: numbers that change while a pipeline runs never move anything.
 */
import { Graph as Dagre, layout } from '@dagrejs/dagre';
import type { z } from 'zod';
import type { GraphSchema } from '../../../api/pipelines/pipeline-shapes.ts';

/** As the API tells it. */
export type ApiGraph = z.infer<typeof GraphSchema>;

export type GraphNode = {
  /** Of the operator: `window-aggregate-2`. */
  id: string;
  /** The id without its number: `window-aggregate`. */
  kind: string;
  title: string;
  description: string;
  parallelism: number;
};

export type GraphEdge = {
  from: string;
  to: string;
  /** Rows go to the subtask of their key, or stay in theirs. */
  shuffle: boolean;
  /** Of a shuffle. */
  keys: string;
  /** Columns of the rows, with their types. */
  rows: string;
};

export type Graph = { nodes: readonly GraphNode[]; edges: readonly GraphEdge[] };

export type Direction = 'across' | 'down';

export type Point = { x: number; y: number };

export type PlacedNode = GraphNode & { x: number; y: number; width: number; height: number };

export type PlacedEdge = GraphEdge & { path: string; middle: Point };

export type GraphLayout = {
  direction: Direction;
  width: number;
  height: number;
  /** In the order in which they are walked by Tab: by layer, then along it. */
  nodes: readonly PlacedNode[];
  edges: readonly PlacedEdge[];
};

export const NODE_WIDTH = 216;
export const NODE_HEIGHT = 66;
const MARGIN = 16;
const LABEL_HEIGHT = 18;
const LABEL_CHARACTER = 6.2;
const LABEL_MOST = 22;

const TITLES: Record<string, string> = {
  project: 'Columns',
  filter: 'Filter',
  'updating-aggregate': 'Running totals',
  'user-function': 'JavaScript',
};

export function graphOf(api: ApiGraph): Graph {
  const names = new Map(api.nodes.map(({ node_id, operator }) => [node_id, operator]));
  const nodes = api.nodes.map(({ operator, description, parallelism }) => {
    const kind = operator.replace(/-\d+$/, '');
    return { id: operator, kind, title: titleOf(kind), description, parallelism };
  });
  const edges = api.edges.map(({ src_id, dest_id, key_type, value_type, edge_type }) => ({
    from: names.get(src_id) ?? String(src_id),
    to: names.get(dest_id) ?? String(dest_id),
    shuffle: edge_type === 'Shuffle',
    keys: key_type === '()' ? '' : key_type,
    rows: value_type,
  }));
  return { nodes, edges };
}

function titleOf(kind: string): string {
  const words = kind.replaceAll('-', ' ');
  return TITLES[kind] ?? words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** What is written on an edge; empty on those that keep rows where they are. */
export function edgeLabel({ shuffle, keys }: GraphEdge): string {
  if (!shuffle) return '';
  const text = keys === '' ? 'all to one' : `by ${keys}`;
  return text.length > LABEL_MOST ? `${text.slice(0, LABEL_MOST - 1)}…` : text;
}

/** @param footer  height that each node has below its text */
export function layOut(graph: Graph, direction: Direction, footer = 0): GraphLayout {
  const drawing = new Dagre<object, Box, DrawnEdge>({ multigraph: true });
  drawing.setGraph({
    rankdir: direction === 'across' ? 'LR' : 'TB',
    nodesep: 20,
    ranksep: direction === 'across' ? 36 : 30,
    marginx: MARGIN,
    marginy: MARGIN,
  });
  for (const { id } of graph.nodes)
    drawing.setNode(id, { x: 0, y: 0, width: NODE_WIDTH, height: NODE_HEIGHT + footer });
  graph.edges.forEach((edge, index) => {
    const label = edgeLabel(edge);
    const room =
      label === ''
        ? { width: 0, height: 0 }
        : { width: label.length * LABEL_CHARACTER + 12, height: LABEL_HEIGHT };
    drawing.setEdge(edge.from, edge.to, { points: [], labelpos: 'c', ...room }, String(index));
  });
  layout(drawing as never);
  const nodes = graph.nodes.map((node) => ({ ...node, ...cornerOf(drawing.node(node.id)) }));
  const edges = graph.edges.map((edge, index) => {
    const { points } = drawing.edge(edge.from, edge.to, String(index));
    return { ...edge, path: pathThrough(points, direction), middle: middleOf(points) };
  });
  const along = direction === 'across' ? byThen('x', 'y') : byThen('y', 'x');
  return { direction, ...extentOf(nodes, edges), nodes: nodes.sort(along), edges };
}

type DrawnEdge = { points: Point[]; labelpos: string; width: number; height: number };

type Box = { x: number; y: number; width: number; height: number };

/** dagre tells the middle of a node. */
const cornerOf = ({ x, y, width, height }: Box): Box => ({
  x: x - width / 2,
  y: y - height / 2,
  width,
  height,
});

const byThen =
  (first: 'x' | 'y', second: 'x' | 'y') =>
  (a: Box, b: Box): number =>
    a[first] - b[first] || a[second] - b[second];

function extentOf(
  nodes: readonly Box[],
  edges: readonly PlacedEdge[],
): { width: number; height: number } {
  const rights = [
    ...nodes.map(({ x, width }) => x + width),
    ...edges.map(({ middle }) => middle.x),
  ];
  const bottoms = [
    ...nodes.map(({ y, height }) => y + height),
    ...edges.map(({ middle }) => middle.y),
  ];
  return { width: Math.max(0, ...rights) + MARGIN, height: Math.max(0, ...bottoms) + MARGIN };
}

/** A line that leaves and enters every point in the direction of the graph, like a river between two banks. */
function pathThrough(points: readonly Point[], direction: Direction): string {
  const [first, ...rest] = points.length === 3 ? [points[0], points[2]] : points;
  if (first === undefined) return '';
  let path = `M${at(first)}`;
  let from = first;
  for (const to of rest) {
    if (to === undefined) continue;
    const bend =
      direction === 'across'
        ? [
            { x: (from.x + to.x) / 2, y: from.y },
            { x: (from.x + to.x) / 2, y: to.y },
          ]
        : [
            { x: from.x, y: (from.y + to.y) / 2 },
            { x: to.x, y: (from.y + to.y) / 2 },
          ];
    path += `C${bend.map(at).join(' ')} ${at(to)}`;
    from = to;
  }
  return path;
}

const at = ({ x, y }: Point): string => `${round(x)},${round(y)}`;

const round = (value: number): number => Math.round(value * 10) / 10;

function middleOf(points: readonly Point[]): Point {
  const first = points[0] ?? { x: 0, y: 0 };
  if (points.length === 3) {
    const last = points[2] ?? first;
    return { x: (first.x + last.x) / 2, y: (first.y + last.y) / 2 };
  }
  return points[Math.floor(points.length / 2)] ?? first;
}

/** The direction in which the graph is larger on a screen of this size. */
export function bestLayout(graph: Graph, room: Size, footer = 0): GraphLayout {
  const across = layOut(graph, 'across', footer);
  const down = layOut(graph, 'down', footer);
  return scaleToFit(across, room) >= scaleToFit(down, room) ? across : down;
}

/** How high a place of this width has to be for the graph to be as large there as in the highest one. */
export function heightFor(
  graph: Graph,
  width: number,
  { least, most }: { least: number; most: number },
  footer = 0,
): number {
  const room = { width, height: most };
  const drawn = bestLayout(graph, room, footer);
  const needed = Math.ceil(drawn.height * scaleToFit(drawn, room));
  return Math.min(most, Math.max(least, needed));
}

export type Size = { width: number; height: number };

/** Never more than the natural size. */
export const scaleToFit = (drawn: Size, room: Size): number =>
  Math.min(1, room.width / Math.max(1, drawn.width), room.height / Math.max(1, drawn.height));

export type Arrow = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown';

/** The next node in the direction of an arrow key: near, and rather straight ahead than aside. */
export function neighbour(drawn: GraphLayout, id: string, arrow: Arrow): string | null {
  const here = drawn.nodes.find((node) => node.id === id);
  if (here === undefined) return null;
  const sideways = arrow === 'ArrowLeft' || arrow === 'ArrowRight';
  const sign = arrow === 'ArrowRight' || arrow === 'ArrowDown' ? 1 : -1;
  let best: string | null = null;
  let bestCost = Infinity;
  for (const node of drawn.nodes) {
    const ahead = sign * (sideways ? node.x - here.x : node.y - here.y);
    const aside = Math.abs(sideways ? node.y - here.y : node.x - here.x);
    if (ahead <= 1) continue;
    const cost = ahead + 2 * aside;
    if (cost < bestCost) {
      best = node.id;
      bestCost = cost;
    }
  }
  return best;
}
