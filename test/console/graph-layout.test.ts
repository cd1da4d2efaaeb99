import { describe, expect, it } from 'vitest';
import {
  type ApiGraph,
  bestLayout,
  edgeLabel,
  graphOf,
  heightFor,
  layOut,
  neighbour,
  scaleToFit,
} from '../../src/console/parts/graph/layout.ts';
import { fit, pan, reveal, zoom } from '../../src/console/parts/graph/view-box.ts';

const node = (node_id: number, operator: string): ApiGraph['nodes'][number] => ({
  node_id,
  operator,
  description: operator,
  parallelism: 2,
});

const edge = (src_id: number, dest_id: number, key_type = '()'): ApiGraph['edges'][number] => ({
  src_id,
  dest_id,
  key_type,
  value_type: 'id BIGINT',
  edge_type: key_type === '()' ? 'Forward' : 'Shuffle',
});

/** Two sources joined, and one of them written as it is too. */
const api: ApiGraph = {
  nodes: [
    node(1, 'source-1'),
    node(2, 'source-2'),
    node(3, 'join-3'),
    node(4, 'sink-4'),
    node(5, 'sink-5'),
  ],
  edges: [edge(1, 3, 'a'), edge(2, 3, 'b'), edge(3, 4), edge(2, 5)],
};

describe('the height of a graph', () => {
  const bounds = { least: 100, most: 350 };
  const chain = graphOf({ nodes: api.nodes.slice(0, 3), edges: [edge(1, 2), edge(2, 3)] });

  it('is that of its rows, and no more than the most', () => {
    const one = heightFor(chain, 1200, bounds, 62);
    const two = heightFor(graphOf(api), 1200, bounds, 62);
    expect(one).toBe(Math.ceil(layOut(chain, 'across', 62).height));
    expect(two).toBeGreaterThan(one);
    expect(two).toBeLessThanOrEqual(bounds.most);
    expect(heightFor(graphOf({ nodes: [], edges: [] }), 1200, bounds)).toBe(bounds.least);
    expect(heightFor(graphOf(api), 1200, { least: 100, most: 120 }, 62)).toBe(120);
  });

  it('leaves the graph as large as in the highest place, at any width', () => {
    for (const graph of [chain, graphOf(api)])
      for (let width = 200; width <= 1600; width += 50) {
        const high = { width, height: bounds.most };
        const own = { width, height: heightFor(graph, width, bounds, 62) };
        const sizeIn = (room: typeof own): number => scaleToFit(bestLayout(graph, room, 62), room);
        expect(sizeIn(own)).toBeGreaterThan(sizeIn(high) * 0.98);
      }
  });
});

describe('the drawing of a graph', () => {
  it.each(['across', 'down'] as const)(
    'goes %s from sources to sinks, no node over another',
    (way) => {
      const drawn = layOut(graphOf(api), way, 20);
      const axis = way === 'across' ? 'x' : 'y';
      const place = new Map(drawn.nodes.map((placed) => [placed.id, placed]));
      for (const { from, to } of drawn.edges)
        expect(place.get(from)![axis]).toBeLessThan(place.get(to)![axis]);
      for (const a of drawn.nodes) {
        expect(a.x >= 0 && a.x + a.width <= drawn.width).toBe(true);
        expect(a.y >= 0 && a.y + a.height <= drawn.height).toBe(true);
        for (const b of drawn.nodes)
          if (a.id !== b.id)
            expect(
              a.x + a.width <= b.x ||
                b.x + b.width <= a.x ||
                a.y + a.height <= b.y ||
                b.y + b.height <= a.y,
            ).toBe(true);
      }
    },
  );

  it('keeps two edges between the same nodes apart from each other', () => {
    const twice = {
      nodes: [node(1, 'source-1'), node(2, 'join-2')],
      edges: [edge(1, 2, 'a'), edge(1, 2, 'b')],
    };
    const drawn = layOut(graphOf(twice), 'across');
    expect(drawn.edges.map(({ keys }) => keys)).toEqual(['a', 'b']);
    expect(drawn.edges[0]!.middle).not.toEqual(drawn.edges[1]!.middle);
  });

  it('writes the key on a shuffle, shortened, and nothing where rows stay', () => {
    const [first, , third] = graphOf(api).edges;
    expect(edgeLabel(first!)).toBe('by a');
    expect(edgeLabel(third!)).toBe('');
    expect(edgeLabel({ ...first!, keys: 'x'.repeat(50) })).toHaveLength(22);
    expect(edgeLabel({ ...first!, keys: '' })).toBe('all to one');
  });

  it('lies across a wide window and down a narrow one', () => {
    const chain: ApiGraph = {
      nodes: [1, 2, 3, 4].map((id) => node(id, `project-${id}`)),
      edges: [edge(1, 2), edge(2, 3), edge(3, 4)],
    };
    expect(bestLayout(graphOf(chain), { width: 1400, height: 300 }).direction).toBe('across');
    expect(bestLayout(graphOf(chain), { width: 360, height: 700 }).direction).toBe('down');
  });

  it('draws a graph without nodes', () => {
    expect(layOut({ nodes: [], edges: [] }, 'across').nodes).toEqual([]);
  });
});

describe('arrow keys', () => {
  const drawn = layOut(graphOf(api), 'across');

  it('go along the edges and back', () => {
    expect(neighbour(drawn, 'source-1', 'ArrowRight')).toBe('join-3');
    expect(neighbour(drawn, 'join-3', 'ArrowRight')).toBe('sink-4');
    expect(neighbour(drawn, 'sink-4', 'ArrowLeft')).toBe('join-3');
  });

  it('stay where there is nothing further', () => {
    expect(neighbour(drawn, 'source-1', 'ArrowLeft')).toBeNull();
    expect(neighbour(drawn, 'nobody', 'ArrowLeft')).toBeNull();
  });
});

describe('the window on a drawing', () => {
  const drawn = layOut(graphOf(api), 'across');
  const room = { width: 900, height: 400 };

  it('zooms about the point under the pointer', () => {
    const view = zoom({ x: 10, y: 20, scale: 1 }, 1.5, { x: 100, y: 50 });
    expect((100 - view.x) / view.scale).toBeCloseTo(90);
    expect((50 - view.y) / view.scale).toBeCloseTo(30);
  });

  it('never loses the drawing, however far it is dragged', () => {
    const far = pan(fit(drawn, room), 1e6, -1e6, drawn, room);
    expect(far.x).toBeLessThan(room.width);
    expect(far.y + drawn.height * far.scale).toBeGreaterThan(0);
  });

  it('moves to a node out of sight, and not for one in sight', () => {
    const [first] = drawn.nodes;
    const away = { x: -800, y: 0, scale: 1 };
    expect(reveal(away, first!, room).x + first!.x).toBeGreaterThanOrEqual(0);
    const here = { x: 0, y: 0, scale: 1 };
    expect(reveal(here, first!, room)).toEqual(here);
  });
});
