/** The lineage picture's model: nothing seen is forgotten, and every epoch, loser and generation has one place that stays. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Lineage } from '../../src/api/jobs/lineage-view.ts';
import {
  layOutRiver,
  nextNode,
  type RiverLayout,
  type RiverNow,
  ROWS_MOST,
} from '../../src/console/pages/pipeline/lineage/layout.ts';
import {
  addAbandoned,
  addLineage,
  addMarks,
  EMPTY_RIVER,
  type EpochDetail,
  type GenerationDetail,
  type Loser,
  type River,
} from '../../src/console/pages/pipeline/lineage/river.ts';
import {
  linePath,
  waterPath,
  widthsOf,
  xOf,
} from '../../src/console/pages/pipeline/lineage/shape.ts';
import { statusOf } from './status.ts';

const SEED = 20_261_130;

const NOW: RiverNow = { generation: 1, running: null, alive: true };

function epoch(number: number, generation: number, others: Loser[] = []): EpochDetail {
  return {
    epoch: number,
    ref: `e${number}`,
    parent: number === 1 ? null : `e${number - 1}`,
    parent_epoch: number === 1 ? null : number - 1,
    generation,
    nonce: `n${generation}`,
    kind: 'data',
    reset: false,
    attempt: 1,
    created_at: number * 1_000_000,
    committed: true,
    commit: 'marked',
    finished: false,
    files: 1,
    bytes: 10,
    items: 1,
    input_rows: number * 10,
    input_bytes: 0,
    output_rows: 1,
    output_bytes: 1,
    others,
  };
}

const loser = (generation: number, name: string): Loser => ({
  ref: name,
  generation,
  nonce: name,
  state: 'lost',
  beaten: { by: 'record', ref: 'e', generation: generation + 1 },
});

const generation = (number: number, epochs: number[], nonce = `n${number}`): GenerationDetail => ({
  generation: number,
  nonce,
  reason: 'created',
  base_epoch: (epochs[0] ?? 1) - 1,
  epochs,
  parallelism: 1,
  plan_hash: 'p',
  created_at: (epochs[0] ?? 0) * 1_000_000 - 1,
});

const lineage = (epochs: EpochDetail[], generations: GenerationDetail[]): Lineage => ({
  generation: Math.max(0, ...generations.map((one) => one.generation)),
  floor: epochs[0]?.epoch ?? 0,
  epochs: epochs.toReversed(),
  unclaimed: [],
  generations,
  unreadable: [],
});

const riverOf = (epochs: EpochDetail[], generations: GenerationDetail[]): River =>
  addLineage(EMPTY_RIVER, lineage(epochs, generations));

const columnsOf = (layout: RiverLayout): Map<number, number> =>
  new Map(layout.line.map((node) => [node.epoch, node.column]));

describe('what the page knows', () => {
  test('an epoch that was collected since stays, with the checkpoints that lost to it', () => {
    const before = riverOf([epoch(1, 1), epoch(2, 1, [loser(1, 'x')])], [generation(1, [1, 2])]);
    const after = addLineage(before, lineage([epoch(2, 1), epoch(3, 2)], [generation(2, [3])]));
    expect(after.epochs.map(({ epoch: number, known }) => [number, known])).toEqual([
      [1, 'collected'],
      [2, 'kept'],
      [3, 'kept'],
    ]);
    expect(after.epochs[1]?.detail?.others.map(({ ref }) => ref)).toEqual(['x']);
    expect(after.generations.map((one) => one.generation)).toEqual([1, 2]);
  });

  test('what history remembers stands for what nobody has seen, and gives way to what is seen', () => {
    const mark = (number: number) =>
      ({ time: number, kind: 'checkpoint', text: '', generation: 1, epoch: number }) as const;
    const known = addMarks(riverOf([epoch(3, 1)], [generation(1, [3])]), [
      mark(1),
      mark(2),
      mark(3),
    ]);
    expect(known.epochs.map((one) => one.known)).toEqual(['remembered', 'remembered', 'kept']);
    const seen = addLineage(known, lineage([epoch(2, 1), epoch(3, 1)], [generation(1, [2, 3])]));
    expect(seen.epochs.map((one) => one.known)).toEqual(['remembered', 'kept', 'kept']);
    expect(addMarks(seen, [mark(3)])).toBe(seen);
  });

  test('a checkpoint under way when its generation ended is noted once; one that was published is not', () => {
    const running = { epoch: 5, attempt: 1, started_at: 50 };
    const before = statusOf({ generation: 1, epoch: 4, running });
    const replaced = statusOf({ generation: 2, epoch: 4 });
    const once = addAbandoned(EMPTY_RIVER, before, replaced);
    expect(once.abandoned).toEqual([{ epoch: 5, generation: 1, attempt: 1, startedAt: 50 }]);
    expect(addAbandoned(once, before, replaced)).toBe(once);
    const published = statusOf({ generation: 1, epoch: 5, recent: [running] });
    expect(addAbandoned(EMPTY_RIVER, before, published)).toBe(EMPTY_RIVER);
  });
});

describe('the picture', () => {
  test('generations are bands in order; one that won nothing stands between those that did', () => {
    const river = riverOf(
      [epoch(1, 1), epoch(2, 1), epoch(3, 3)],
      [generation(1, [1, 2]), { ...generation(2, []), created_at: 2_500_000 }, generation(3, [3])],
    );
    const { bands } = layOutRiver(river, { ...NOW, generation: 3 });
    expect(bands.map((band) => [band.generation, band.from, band.to, band.state])).toEqual([
      [1, 1, 3, 'past'],
      [2, 3, 4, 'empty'],
      [3, 4, 5, 'owner'],
    ]);
  });

  test('two starts of one leader are two bands, numbered', () => {
    const second = { ...epoch(2, 1), nonce: 'again' };
    const river = riverOf([epoch(1, 1), second], [generation(1, [1]), generation(1, [2], 'again')]);
    const { bands } = layOutRiver(river, NOW);
    expect(bands.map(({ start }) => start)).toEqual([1, 2]);
  });

  test('so are they when of the first only later epochs are known by their start', () => {
    const second = { ...epoch(9, 1), nonce: 'again' };
    const kept = riverOf([epoch(8, 1), second], [generation(1, [8]), generation(1, [9], 'again')]);
    const river = addMarks(
      kept,
      [5, 6, 7].map((number) => ({
        time: number * 1_000_000,
        kind: 'checkpoint' as const,
        text: '',
        generation: 1,
        epoch: number,
      })),
    );
    const { bands } = layOutRiver(river, NOW);
    expect(bands.map(({ start, epochs, state }) => [start, epochs, state])).toEqual([
      [1, 4, 'past'],
      [2, 1, 'owner'],
    ]);
  });

  test('what a leader that failed had read behind its last epoch is cut off; one that was stopped cut nothing', () => {
    const cutsOf = (reason: string, nonce = 'n2', number = 2): string[] => {
      const after = { ...generation(number, [3], nonce), reason };
      const third = { ...epoch(3, number), nonce };
      const river = riverOf([epoch(1, 1), epoch(2, 1), third], [generation(1, [1, 2]), after]);
      return layOutRiver(river, { ...NOW, generation: number })
        .nodes.filter(({ kind }) => kind === 'cut')
        .map((node) => `${node.generation} behind ${node.epoch - 1} at ${node.column}/${node.row}`);
    };
    expect(cutsOf('recovery: HOST_LOST')).toEqual(['1 behind 2 at 3/1']);
    expect(cutsOf('created', 'again', 1)).toEqual(['1 behind 2 at 3/1']);
    expect(cutsOf('restart')).toEqual([]);
  });

  test('a generation that is starting is announced behind the line until it wins', () => {
    const river = riverOf([epoch(1, 1)], [generation(1, [1])]);
    expect(layOutRiver(river, { ...NOW, generation: 2 }).bands.at(-1)).toMatchObject({
      generation: 2,
      state: 'next',
    });
    expect(layOutRiver(river, { ...NOW, generation: 2, alive: false }).bands.length).toBe(1);
  });

  test('losers of one epoch stand under each other; more than fit are folded and counted', () => {
    const many = Array.from({ length: 6 }, (_, index) => loser(index + 1, `x${index}`));
    const layout = layOutRiver(
      riverOf([epoch(1, 9), epoch(2, 9, many)], [generation(9, [1, 2])]),
      NOW,
    );
    const beside = layout.nodes.filter(({ row }) => row > 0);
    expect(beside.map(({ row, kind, count }) => [row, kind, count])).toEqual([
      [1, 'lost', 1],
      [2, 'lost', 1],
      [3, 'folded', 4],
    ]);
    expect(layout.branches.map(({ fromColumn, to }) => [fromColumn, to.column])).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
  });

  test('arrow keys go along the line, and down to what lost and back', () => {
    const layout = layOutRiver(
      riverOf([epoch(1, 1), epoch(2, 1, [loser(1, 'x')]), epoch(3, 1)], [generation(1, [1, 2, 3])]),
      NOW,
    );
    const walk = (keys: Parameters<typeof nextNode>[2][]): string | null =>
      keys.reduce<string | null>((id, key) => nextNode(layout, id, key)?.id ?? null, null);
    expect(walk(['ArrowLeft'])).toBe('e3');
    expect(walk(['ArrowLeft', 'ArrowLeft'])).toBe('e2');
    expect(walk(['ArrowLeft', 'ArrowLeft', 'ArrowDown'])).toMatch(/^l1-x/);
    expect(walk(['ArrowLeft', 'ArrowLeft', 'ArrowDown', 'ArrowUp', 'ArrowRight'])).toBe('e3');
    expect(walk(['End', 'Home', 'ArrowLeft'])).toBe('e1');
  });
});

/** A line of some generations, each with some epochs and losers. */
const lines = fc
  .array(
    fc.record({
      won: fc.integer({ min: 0, max: 6 }),
      losers: fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 6 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((made) => {
    const epochs: EpochDetail[] = [];
    const generations: GenerationDetail[] = [];
    made.forEach(({ won, losers }, index) => {
      const numbers = Array.from({ length: won }, (_, at) => epochs.length + at + 1);
      const detail = generation(index + 1, numbers);
      generations.push({ ...detail, created_at: epochs.length * 1_000_000 + 500_000 });
      numbers.forEach((number, at) =>
        epochs.push(
          epoch(
            number,
            index + 1,
            Array.from({ length: losers[at] ?? 0 }, (_, which) =>
              loser(index, `${number}-${which}`),
            ),
          ),
        ),
      );
    });
    return { epochs, generations };
  });

test('no two nodes share a place, bands do not overlap and hold their epochs, and a new epoch moves nothing', () => {
  fc.assert(
    fc.property(lines, ({ epochs, generations }) => {
      const layout = layOutRiver(riverOf(epochs, generations), {
        ...NOW,
        generation: generations.length,
      });
      const places = layout.nodes.map(({ column, row }) => `${column}/${row}`);
      expect(new Set(places).size).toBe(places.length);
      expect(new Set(layout.nodes.map(({ id }) => id)).size).toBe(layout.nodes.length);
      layout.bands.forEach((band, index) => {
        expect(band.to).toBeGreaterThan(band.from);
        if (index > 0) expect(band.from).toBe(layout.bands[index - 1]?.to);
        const inside = layout.line.filter(({ column }) => column >= band.from && column < band.to);
        expect(inside.length).toBe(band.epochs);
        expect(inside.every((node) => node.generation === band.generation)).toBe(true);
      });
      expect(layout.bands.length).toBe(generations.length);
      expect(Math.max(0, ...layout.nodes.map(({ row }) => row))).toBeLessThanOrEqual(ROWS_MOST);
      const last = generations.length;
      const more = [...epochs, epoch(epochs.length + 1, last)];
      const after = columnsOf(layOutRiver(riverOf(more, generations), NOW));
      if ((generations.at(-1)?.epochs.length ?? 0) > 0)
        for (const [number, column] of columnsOf(layout)) expect(after.get(number)).toBe(column);
    }),
    { seed: SEED, numRuns: 200 },
  );
});

test('a thousand epochs of fifty generations are laid out and drawn as one line', () => {
  const epochs = Array.from({ length: 1_000 }, (_, index) =>
    epoch(index + 1, Math.floor(index / 20) + 1, index % 7 === 0 ? [loser(1, `l${index}`)] : []),
  );
  const generations = Array.from({ length: 50 }, (_, index) =>
    generation(index + 1, [index * 20 + 1]),
  );
  const layout = layOutRiver(riverOf(epochs, generations), { ...NOW, generation: 50 });
  expect(layout.line.length).toBe(1_000);
  expect(layout.bands.length).toBe(50);
  expect(layout.end).toBe(1_001);
  const scale = { step: 1.2, middle: 100 };
  const path = linePath(layout.first, layout.end - 1, scale);
  expect(path.split('L').length).toBe(1_000);
  expect(path).not.toContain('NaN');
  const water = waterPath(1, 1_000, widthsOf(layout), scale, 1);
  expect(water).not.toContain('NaN');
  expect(xOf(2, scale) - xOf(1, scale)).toBeCloseTo(1.2);
});
