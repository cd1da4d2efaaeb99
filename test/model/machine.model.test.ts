/**
 * The leader, explored: the product's reducer over the product's workflows, with hosts, two sinks, stops, resets whose old
 * instance lives on, lost hosts, expired attempts, lost acknowledgements, rescaling and a reset of state.
 */
import { describe, expect, test } from 'vitest';
import { MachineExplorer } from './machine-explorer.ts';
import type { MachineExploration } from './machine-explorer.ts';

type Run = MachineExploration & { ends: string[] };

const RUNS: Record<string, Run> = {
  'two generations, scaled up, collecting': {
    parallelism: [1, 2],
    rows: 1,
    keep: 0,
    faults: {},
    ends: ['finished', 'fenced'],
  },
  'two generations, scaled down, one stop in any mode': {
    parallelism: [2, 1],
    rows: 1,
    keep: 5,
    faults: { stops: 1 },
    ends: ['stopped', 'finished', 'fenced'],
  },
  'two generations, one lost host and one lost acknowledgement': {
    parallelism: [2, 1],
    rows: 1,
    keep: 5,
    faults: { hostLosses: 1, silences: 1 },
    ends: ['failed HOST_LOST', 'failed COMMIT_TIMEOUT', 'finished'],
  },
  'a generation that forgets the state of the one before': {
    parallelism: [1, 2],
    rows: 2,
    keep: 5,
    faults: {},
    forgetting: [2],
    ends: ['finished', 'fenced'],
  },
  'a leader that is reset while it collects, its old instance lives on': {
    parallelism: [1],
    rows: 1,
    keep: 0,
    faults: { resets: 1 },
    ends: ['finished', 'fenced'],
  },
  'a leader that is reset and one lost request': {
    parallelism: [1],
    rows: 1,
    keep: 5,
    faults: { resets: 1, losses: 1 },
    ends: ['finished', 'fenced'],
  },
  'a leader that is reset and stopped in any mode, before and after': {
    parallelism: [1],
    rows: 1,
    keep: 5,
    faults: { resets: 1, stops: 1 },
    ends: ['stopped', 'finished', 'fenced'],
  },
  'an attempt that expires and one late request': {
    parallelism: [2],
    rows: 2,
    keep: 5,
    faults: { expiries: 1, delays: 1 },
    ends: ['finished'],
  },
};

describe('no order of events breaks the leader', () => {
  test.each(Object.entries(RUNS))('%s', { timeout: 240_000 }, (name, { ends, ...bounds }) => {
    const startedAt = process.cpuUsage();
    const explorer = new MachineExplorer(bounds);
    const report = explorer.explore();
    const used = process.cpuUsage(startedAt);
    const seconds = ((used.user + used.system) / 1e6).toFixed(1);
    const { states, moves, depth } = report;
    process.stdout.write(
      `model: ${name}: ${states} states, ${moves} moves, depth ${depth}, ${seconds} s\n`,
    );
    expect(report.violation).toBe(null);
    expect(report.exhausted).toBe(true);
    for (const outcome of ends) expect([...explorer.outcomes]).toContain(outcome);
  });
});
