/**
 * Hosts for the machine model: they follow the protocol of messages, and keep of the data plane only rows and offsets.
 *
 * A host owns the partitions whose number leaves its index when divided by the parallelism. Right before each cut it reads
 * one row of each, until `rows` are read. What it has cut stays with it until it hears that a checkpoint which
 * contains the cut is settled, as the product's sink nodes do (`src/subtask/sink-node.ts`).
 */
import type { BroadcastState, SinkItem } from '../../src/lineage/types.ts';
import type { CommandAnswer, CommandEnvelope, HostReport } from '../../src/protocol/messages.ts';

export const PARTITIONS = 2;
export const SINKS = ['a', 'b'] as const;

type Row = [partition: number, offset: number];
type Cut = { epoch: number; attempt: number; rows: Row[] };

/** Plain data, replaced and never mutated. `mail`: commands on their way, in any order; `reports`: likewise, to the leader. */
export type ModelHost = {
  incarnation: string;
  phase: 'empty' | 'ready' | 'running' | 'stopped';
  leader: string;
  /** The last `deploy` or `adopt`. */
  ledBy: { start: number; sequence: number };
  offsets: Row[];
  cuts: Cut[];
  last: { epoch: number; attempt: number };
  mail: { slot: number; envelope: CommandEnvelope }[];
  reports: { leader: string; report: HostReport }[];
};

/** What a mutant changes about hosts. */
export type HostRules = {
  /** Whether a cut may be forgotten once (epoch, attempt) is settled. */
  forgets(cut: Cut, settled: { epoch: number; attempt: number }): boolean;
};

export const HOST_RULES: HostRules = {
  forgets: (cut, { epoch, attempt }) =>
    cut.epoch < epoch || (cut.epoch === epoch && cut.attempt <= attempt),
};

export function emptyHost(incarnation: string): ModelHost {
  return {
    incarnation,
    phase: 'empty',
    leader: '',
    ledBy: { start: 0, sequence: 0 },
    offsets: [],
    cuts: [],
    last: { epoch: 0, attempt: 0 },
    mail: [],
    reports: [],
  };
}

/** The host after a command, its answer, and what it has to say at once. */
export type Obeyed = { host: ModelHost; answer: CommandAnswer; reports: HostReport[] };

export function drained(host: ModelHost, rows: number): boolean {
  return host.phase !== 'empty' && host.offsets.every(([, offset]) => offset >= rows);
}

export function obey(
  host: ModelHost,
  { command, leader, leaderStart, sequence, host: addressee }: CommandEnvelope,
  rules: HostRules,
  rows: number,
): Obeyed {
  const mine = addressee === host.incarnation || command.tag === 'deploy';
  if (!mine || (host.phase === 'empty' && command.tag !== 'deploy')) {
    const { incarnation } = host;
    return { host, answer: { tag: 'unknown-incarnation', incarnation }, reports: [] };
  }
  const { start, sequence: last } = host.ledBy;
  const outdated = leaderStart < start || (leaderStart === start && sequence < last);
  const leads = command.tag === 'deploy' || command.tag === 'adopt';
  if (outdated || (!leads && leader !== host.leader))
    return { host, answer: { tag: 'stale-leader' }, reports: [] };
  const ledBy = leads ? { start: leaderStart, sequence } : host.ledBy;
  const accept = (next: ModelHost, reports: HostReport[] = []): Obeyed => ({
    host: next,
    answer: { tag: 'accepted' },
    reports,
  });
  if (host.phase === 'stopped' && command.tag !== 'stop') {
    const { incarnation } = host;
    const answer: CommandAnswer = { tag: 'unknown-incarnation', incarnation };
    return { host: { ...host, leader, ledBy }, answer, reports: [] };
  }
  switch (command.tag) {
    case 'deploy': {
      const { parallelism } = command.spec;
      const known = new Map((command.checkpoint?.broadcast ?? []).flatMap(rowsOf));
      const offsets: Row[] = [];
      for (let partition = command.index; partition < PARTITIONS; partition += parallelism)
        offsets.push([partition, known.get(partition) ?? 0]);
      const fresh = { ...emptyHost(host.incarnation), mail: host.mail, offsets, leader, ledBy };
      const next: ModelHost = { ...fresh, phase: 'ready' };
      return accept(next, [{ tag: 'deployed', drained: drained(next, rows), answers: sequence }]);
    }
    case 'adopt':
      return accept({ ...host, leader, ledBy }, [
        { tag: 'deployed', drained: drained(host, rows), answers: sequence },
      ]);
    case 'begin':
      return accept({ ...host, phase: 'running' });
    case 'barrier':
      return accept(...cut(host, command, rows));
    case 'commit':
      return accept(host);
    case 'settled':
      return accept({ ...host, cuts: host.cuts.filter((each) => !rules.forgets(each, command)) });
    case 'stop':
      return accept({ ...host, phase: 'stopped' }, [{ tag: 'stopped' }]);
  }
}

function rowsOf(entry: BroadcastState): Row[] {
  return entry.value as Row[];
}

function cut(
  host: ModelHost,
  { epoch, attempt }: { epoch: number; attempt: number },
  rows: number,
): [ModelHost, HostReport[]] {
  const { last } = host;
  if (epoch < last.epoch || (epoch === last.epoch && attempt <= last.attempt)) return [host, []];
  const read = host.offsets.filter(([, offset]) => offset < rows);
  const offsets = host.offsets.map(([partition, offset]): Row => [
    partition,
    Math.min(offset + 1, rows),
  ]);
  const cuts = [...host.cuts, { epoch, attempt, rows: read }];
  const next = { ...host, offsets, cuts, last: { epoch, attempt } };
  const staged = cuts.flatMap((each) => each.rows);
  const subtask = offsets[0]?.[0] ?? 0;
  const items: SinkItem[] =
    staged.length === 0
      ? []
      : SINKS.map((sink) => ({
          sink,
          subtask,
          index: 0,
          payload: staged.map((row): number[] => [...row]),
        }));
  const broadcast: BroadcastState[] = [
    { operator: 'source', table: 'offsets', subtask, value: offsets },
  ];
  const times = { alignMs: 0, snapshotMs: 0, uploadMs: 0 };
  const report: HostReport = {
    tag: 'checkpointed',
    epoch,
    attempt,
    files: [],
    broadcast,
    inputs: [],
    items,
    drained: drained(next, rows),
    ...times,
  };
  return [next, [report]];
}
