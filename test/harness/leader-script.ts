/**
 * Runs interaction scripts against the leader: each line that begins with `> ` is a directive, what follows are the effects.
 *
 * The harness answers nothing by itself. Of every effect it keeps what later directives refer to: the workflow under way,
 * what was persisted, sequences. Times are printed relative to the directive.
 */
import { LIMITS } from '../../src/base/limits.ts';
import type {
  LeaderEffect,
  LeaderEvent,
  LineageOperation,
  LineageResult,
} from '../../src/leader/interface.ts';
import { leaderStatus } from '../../src/leader/status.ts';
import { stepLeader } from '../../src/leader/leader.ts';
import { newLeader } from '../../src/leader/state.ts';
import type { LeaderState, PersistedLeader } from '../../src/leader/state.ts';
import type { CheckpointManifest, SinkItem, Tip } from '../../src/lineage/types.ts';
import type {
  GenerationSpec,
  HostCommand,
  HostReport,
  LeaderStatus,
  Outcome,
  StopMode,
} from '../../src/protocol/messages.ts';

const STOPPED = {
  report: { code: 'STORE_FAILED', domain: 'external', retry: 'backoff', message: 'no answer' },
} as const;
const BROKEN = {
  report: { code: 'LINEAGE_BROKEN', domain: 'internal', retry: 'never', message: 'a hole' },
} as const;

/** A spec with everything at its default; generation 2 of `pl_1`. */
export function specFor(change: Partial<GenerationSpec> = {}): GenerationSpec {
  return {
    protocol: 1,
    pipelineId: 'pl_1',
    jobId: 'job_1',
    name: 'test',
    generation: 2,
    graph: { version: 1, operators: [], edges: [], planHash: 'plan' },
    parallelism: 2,
    checkpointIntervalMs: LIMITS.checkpointIntervalDefaultMs,
    settings: { ...LIMITS, batchRows: LIMITS.batchRowsDefault },
    pipelineCreatedMs: 0,
    reason: 'test',
    reset: false,
    codeVersion: '1',
    ...change,
  };
}

/** `s:2,t:1`: two items of sink s and one of sink t. */
export function itemsOf(text: string | undefined, subtask = 0): SinkItem[] {
  const items: SinkItem[] = [];
  for (const part of text === undefined || text === '' ? [] : text.split(',')) {
    const [sink = '', count = '1'] = part.split(':');
    for (let index = 0; index < Number(count); index++)
      items.push({ sink, subtask, index, payload: null });
  }
  return items;
}

export function tipOf(
  epoch: number,
  generation: number,
  change: Partial<CheckpointManifest> = {},
  committed = true,
): Tip {
  const manifest: CheckpointManifest = {
    version: 1,
    kind: 'data',
    epoch,
    generation,
    nonce: 'n',
    attempt: 1,
    data: { generation, epoch, attempt: 1 },
    parent: null,
    planHash: 'plan',
    parallelism: 2,
    files: [],
    broadcast: [],
    inputs: [],
    needsCommit: !committed || (change.items ?? []).length > 0,
    items: [],
    finished: false,
    createdAtMs: 0,
    ...change,
  };
  return {
    epoch,
    ref: { ref: `checkpoint-${generation}-${epoch}`, hash: '0' },
    manifest,
    committed,
  };
}

type Words = { name: string; plain: string[]; named: Record<string, string> };

function parseWords(line: string): Words {
  const words: Words = { name: '', plain: [], named: {} };
  for (const word of line.trim().split(/\s+/)) {
    const at = word.indexOf('=');
    if (at > 0) words.named[word.slice(0, at)] = word.slice(at + 1);
    else if (words.name === '') words.name = word;
    else words.plain.push(word);
  }
  return words;
}

export class LeaderScript {
  state: LeaderState = newLeader();
  nowMs = 0;
  starts = 0;
  spec: GenerationSpec | null = null;
  persisted: PersistedLeader | null = null;
  operation: { id: number; operation: LineageOperation } | null = null;
  collection: number | null = null;
  sequence = 0;
  /** Hosts accept `settled` at once, without a word in the script, until `mute`. */
  answering = true;
  /** All effects so far. */
  effects: LeaderEffect[] = [];

  constructor() {
    this.run('wake');
  }

  get status(): LeaderStatus {
    return leaderStatus(this.state);
  }

  get outcome(): Outcome | null {
    return this.state.outcome;
  }

  /** Runs directives, one a line; the effects of the last one as text. */
  run(text: string): string[] {
    let lines: string[] = [];
    for (const line of text.split('\n').map((each) => each.trim()))
      if (line !== '') lines = this.#directive(line);
    return lines;
  }

  /** Commands sent by the last `count` effects on, as host and tag. */
  sent(tag: HostCommand['tag']): Extract<LeaderEffect, { tag: 'send' }>[] {
    return this.effects.filter(
      (effect) => effect.tag === 'send' && effect.envelope.command.tag === tag,
    ) as Extract<LeaderEffect, { tag: 'send' }>[];
  }

  apply(event: LeaderEvent): string[] {
    const before = JSON.stringify(this.state);
    const result = stepLeader(this.state, event);
    if (JSON.stringify(this.state) !== before)
      throw new Error('the step changed the state it was given');
    if (
      this.state.phase === 'ended' &&
      event.tag !== 'woke' &&
      result.effects.some((effect) => effect.tag !== 'reply')
    ) {
      throw new Error(`an ended leader has effects: ${JSON.stringify(result.effects)}`);
    }
    this.state = result.state;
    for (const effect of result.effects) this.#note(effect);
    const lines = result.effects.map((effect) => renderEffect(effect, this.nowMs));
    return this.answering
      ? [...lines, ...result.effects.flatMap((effect) => this.#answerSettled(effect))]
      : lines;
  }

  #answerSettled(effect: LeaderEffect): string[] {
    if (effect.tag !== 'send' || effect.envelope.command.tag !== 'settled') return [];
    const { index, envelope } = effect;
    return this.apply({
      tag: 'answer',
      nowMs: this.nowMs,
      index,
      sequence: envelope.sequence,
      answer: { tag: 'accepted' },
    });
  }

  #note(effect: LeaderEffect): void {
    this.effects.push(effect);
    if (effect.tag === 'persist') {
      this.spec = effect.spec ?? this.spec;
      this.persisted = JSON.parse(JSON.stringify(effect.persisted)) as PersistedLeader;
    }
    if (effect.tag !== 'lineage') return;
    if (effect.operation.tag === 'collect') this.collection = effect.id;
    else this.operation = effect;
  }

  #directive(line: string): string[] {
    const words = parseWords(line);
    const { name, plain, named } = words;
    const nowMs = this.nowMs;
    switch (name) {
      case 'wake': {
        const incarnation = { objectId: 'o', startNo: ++this.starts, nonce: `l${this.starts}` };
        this.operation = null;
        this.collection = null;
        return this.apply({
          tag: 'woke',
          nowMs,
          incarnation,
          spec: this.spec,
          persisted: this.persisted,
        });
      }
      case 'start': {
        const change: Partial<GenerationSpec> = {
          parallelism: Number(named['p'] ?? 2),
          reset: plain.includes('reset'),
        };
        if (named['reset-from'] !== undefined) change.resetFrom = Number(named['reset-from']);
        return this.apply({ tag: 'start', nowMs, spec: specFor(change) });
      }
      case 'after':
        this.nowMs += Math.round(Number.parseFloat(plain[0] ?? '0') * 1000);
        return this.apply({ tag: 'tick', nowMs: this.nowMs });
      case 'pass':
        this.nowMs += Math.round(Number.parseFloat(plain[0] ?? '0') * 1000);
        return [];
      case 'flush':
        return this.apply({ tag: 'flush', nowMs });
      case 'stop':
        return this.apply({
          tag: 'stop',
          nowMs,
          mode: plain[0] as StopMode,
          nonce: plain[1] ?? 'n1',
        });
      case 'host-lost':
        return this.apply({ tag: 'host-lost', nowMs, index: Number(plain[0]), reason: 'reset' });
      case 'answer': {
        const tag = plain[1] as 'accepted' | 'stale-leader' | 'unknown-incarnation';
        const answer = tag === 'unknown-incarnation' ? { tag, incarnation: 'h9' } : { tag };
        return this.apply({
          tag: 'answer',
          nowMs,
          index: Number(plain[0]),
          sequence: Number(named['sequence'] ?? 1),
          answer,
        });
      }
      case 'mute':
        this.answering = false;
        return [];
      case 'collected':
        return this.#collected(plain[0] ?? 'done');
      default: {
        const report = reportOfWords(words, this.state);
        if (report === null) return this.#lineage(words);
        const hosts = plain[0] === 'all' ? [...this.state.hosts.keys()] : [Number(plain[0])];
        return hosts.flatMap((index) => this.#report(index, report(index), named));
      }
    }
  }

  #report(index: number, report: HostReport, named: Record<string, string>): string[] {
    const envelope = {
      pipelineId: 'pl_1',
      generation: Number(named['generation'] ?? 2),
      leader: named['leader'] ?? `l${this.starts}`,
      index,
      host: named['host'] ?? `h${index}`,
      sequence: Number(named['sequence'] ?? ++this.sequence),
      report,
    };
    return this.apply({ tag: 'report', nowMs: this.nowMs, envelope });
  }

  #collected(how: string): string[] {
    if (this.collection === null) throw new Error('nothing is being collected');
    const id = this.collection;
    this.collection = null;
    const outcome =
      how === 'fenced'
        ? ({ tag: 'skipped', reason: 'fenced' } as const)
        : ({ tag: 'collected', floor: 1, deleted: 0 } as const);
    return this.apply({
      tag: 'lineage-done',
      nowMs: this.nowMs,
      id,
      result: { tag: 'collect', outcome },
    });
  }

  #lineage({ name, plain, named }: Words): string[] {
    if (this.operation === null) throw new Error(`no workflow waits for ${name}`);
    const { id, operation } = this.operation;
    this.operation = null;
    const result = {
      tag: operation.tag,
      outcome: outcomeOf(name, plain, named, operation),
    } as LineageResult;
    return this.apply({ tag: 'lineage-done', nowMs: this.nowMs, id, result });
  }
}

function reportOfWords(
  { name, plain, named }: Words,
  state: LeaderState,
): ((index: number) => HostReport) | null {
  const drained = plain.includes('drained');
  const epoch = Number(named['epoch'] ?? state.epoch + 1);
  switch (name) {
    case 'deployed':
      return (index) => ({
        tag: 'deployed',
        drained,
        answers: Number(named['answers'] ?? state.hosts[index]?.ledSince ?? 0),
      });
    case 'checkpointed': {
      const attempt = Number(named['attempt'] ?? 1);
      const times = { alignMs: 1, snapshotMs: 2, uploadMs: 3 };
      return (index) => ({
        tag: 'checkpointed',
        epoch,
        attempt,
        files: [],
        broadcast: [],
        inputs: [],
        items: itemsOf(named['items'], index),
        drained,
        ...times,
      });
    }
    case 'committed':
      return () => ({
        tag: 'committed',
        epoch: Number(named['epoch'] ?? state.epoch),
        sinks: (named['sinks'] ?? '').split(','),
      });
    case 'drained':
      return () => ({ tag: 'drained' });
    case 'stopped':
      return () => ({ tag: 'stopped' });
    case 'failed': {
      const retry = plain.includes('never') ? 'never' : 'backoff';
      const report = {
        code: 'SINK_FAILED',
        domain: 'external',
        retry,
        message: 'the sink said no',
      } as const;
      return () => ({ tag: 'failed', report, operator: 'sink-1' });
    }
    case 'heartbeat':
      return () => ({ tag: 'heartbeat', metrics: [], problems: [] });
    default:
      return null;
  }
}

function outcomeOf(
  name: string,
  plain: string[],
  named: Record<string, string>,
  operation: LineageOperation,
): unknown {
  const tip = (): Tip =>
    plain.includes('new')
      ? { epoch: 0, ref: null, manifest: null, committed: true }
      : tipOf(
          Number(named['epoch'] ?? 5),
          Number(named['generation'] ?? 1),
          { items: itemsOf(named['items']), finished: plain.includes('finished') },
          !plain.includes('uncommitted'),
        );
  switch (name) {
    case 'opened':
      return { tag: 'opened', tip: tip(), floor: 0 };
    case 'adopted':
      return { tag: 'adopted', tip: tip() };
    case 'lost-while-mine':
      return { tag: 'lost-while-mine', tip: tip() };
    case 'fenced':
      return { tag: 'fenced', by: null };
    case 'broken':
      return { tag: 'broken', ...BROKEN };
    case 'unavailable':
      return { tag: 'unavailable', ...STOPPED };
    case 'marked':
      if (operation.tag !== 'complete-commit') throw new Error(`${operation.tag} cannot be marked`);
      return { tag: 'marked', tip: { ...operation.tip, committed: true } };
    case 'begun': {
      if (operation.tag !== 'fence') throw new Error(`${operation.tag} cannot begin`);
      const { manifest } = operation.tip;
      const change = {
        kind: 'fence' as const,
        data: manifest?.data ?? null,
        items: [],
        needsCommit: false,
        finished: false,
      };
      return { tag: 'begun', tip: tipOf(operation.tip.epoch + 1, 2, change) };
    }
    case 'canonical': {
      if (operation.tag !== 'publish') throw new Error(`${operation.tag} cannot become canonical`);
      const { draft } = operation;
      return { tag: 'canonical', tip: tipOf(draft.epoch, 2, draft, !draft.needsCommit) };
    }
    default:
      throw new Error(`unknown directive ${name}`);
  }
}

function renderEffect(effect: LeaderEffect, nowMs: number): string {
  switch (effect.tag) {
    case 'persist': {
      const { phase, begun, hosts, stop, outcome } = effect.persisted;
      const parts = [
        phase,
        effect.spec === null ? '' : 'with spec',
        begun ? `begun on ${hosts.join(' ')}` : '',
      ];
      parts.push(
        stop === null ? '' : `stop ${stop.mode} ${stop.nonce}`,
        outcome === null ? '' : renderOutcome(outcome),
      );
      return `persist ${parts.filter((part) => part !== '').join(', ')}`;
    }
    case 'lineage':
      return `lineage ${renderOperation(effect.operation)}`;
    case 'send':
      return `send ${effect.index} ${renderCommand(effect.envelope.command)} [${effect.envelope.leader} to ${effect.envelope.host ?? 'anyone'}, ${effect.envelope.sequence}]`;
    case 'watch':
      return `watch ${effect.index} ${effect.host}`;
    case 'wake-at':
      return `wake-at +${effect.atMs - nowMs} ms`;
    case 'reply':
      return `reply ${effect.answer.tag}`;
    default:
      return effect.tag;
  }
}

function renderOutcome(outcome: Outcome): string {
  if (outcome.tag === 'fenced') return 'fenced';
  if (outcome.tag === 'failed') return `failed ${outcome.report.code}: ${outcome.report.message}`;
  return `${outcome.tag} at ${outcome.epoch}`;
}

function renderTip(tip: Tip): string {
  return `epoch ${tip.epoch}${tip.committed ? '' : ' (uncommitted)'}`;
}

function renderOperation(operation: LineageOperation): string {
  switch (operation.tag) {
    case 'open':
      return 'open';
    case 'publish': {
      const { epoch, attempt, items, finished } = operation.draft;
      return `publish epoch ${epoch}, attempt ${attempt}, after ${renderTip(operation.tip)}, ${items.length} items${finished ? ', finished' : ''}`;
    }
    case 'fence':
      return `fence after ${renderTip(operation.tip)}${operation.options.reset ? ', reset' : ''}`;
    case 'collect':
      return `collect behind ${renderTip(operation.tip)}, keep ${operation.keep}`;
    case 'complete-commit':
      return `complete-commit ${renderTip(operation.tip)}`;
  }
}

function renderCommand(command: HostCommand): string {
  switch (command.tag) {
    case 'deploy':
      return command.checkpoint === null
        ? 'deploy from nothing'
        : `deploy from epoch ${command.checkpoint.epoch} of generation ${command.checkpoint.generation}`;
    case 'begin':
      return `begin among ${(command.hosts ?? []).join(' ')}`;
    case 'adopt':
      return 'adopt';
    case 'barrier':
      return `barrier ${command.epoch}.${command.attempt}${command.stopping ? ' stopping' : ''}`;
    case 'commit':
      return `commit ${command.epoch}: ${command.items.map((item) => `${item.sink}/${item.subtask}/${item.index}`).join(' ')}`;
    case 'settled':
      return `settled ${command.epoch}.${command.attempt}`;
    case 'stop':
      return `stop ${command.mode}`;
  }
}

/** The script with the effects that the leader has now; comments and blank lines stay. */
export function playScript(text: string): string {
  const script = new LeaderScript();
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('> '))
      lines.push(line, ...script.run(line.slice(2)).map((effect) => `  ${effect}`));
    else if (line === '' || line.startsWith('#')) lines.push(line);
  }
  return lines.join('\n');
}
