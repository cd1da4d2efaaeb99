/**
 * One host as a step machine: events in, ordered effects out, no waiting and no clock.
 *
 * Place in the walk: stages 4 to 7 and 9. Phases:
 *
 *     empty → restoring → ready → running → stopped
 *
 * `restoring` reads state files, `ready` accepts rows from other hosts but reads no source, `running`
 * reads sources, `stopped` refuses everything.
 *
 * Invariants: INV-30 a command for another generation, incarnation or leader has no effect;
 * INV-44 (stage-runtime) for snapshots; INV-45 a checkpoint is reported only when every state file and
 * every staged sink object it names has been stored.
 * Failure: any effect that fails for good, and any bug, ends in one `failed` report; the leader then
 * gives the generation up and the next one restores from the last canonical checkpoint. A host never
 * repairs itself.
 */
import { must } from '../base/assert.ts';
import { EngineError, type ErrorReport, reportOf } from '../base/errors.ts';
import { redactedOperators } from '../graph/redaction.ts';
import type { SinkItem } from '../lineage/types.ts';
import type {
  CommandAnswer,
  CommandEnvelope,
  Delivery,
  DeliveryAnswer,
  GenerationSpec,
  HostCommand,
} from '../protocol/messages.ts';
import { type CheckpointPort, HostCheckpoints } from './host-checkpoints.ts';
import { HostCommits, tokenOf } from './host-commits.ts';
import type { HostEffect, HostEvent, HostStep } from './host-events.ts';
import { checkStateBudget } from './state-budget.ts';
import { HostMetrics } from './host-metrics.ts';
import type { CallingBody } from './calling-body.ts';
import { RestoreTask } from './restore-task.ts';
import type { SinkNode } from './sink-node.ts';
import type { StageRuntime } from './stage-runtime.ts';
import { LAYER_POLICY, type LayerPolicy } from './state-layers.ts';
import { buildSubtasks, type Subtasks } from './subtasks.ts';

type Phase = 'empty' | 'restoring' | 'ready' | 'running' | 'stopped';

/** What an answered request was for. */
type Pending =
  | { tag: 'restore' }
  | { tag: 'upload' }
  | { tag: 'stage'; sink: SinkNode; index: number }
  | { tag: 'pre-commit' }
  | { tag: 'commit'; epoch: number; sink: string }
  | { tag: 'call'; body: CallingBody; ticket: number };

/** Units of work (batches or frames) of one stage in one step. */
const STAGE_BUDGET = 16;
const TICK_MS = 100;

export class HostMachine {
  readonly #incarnation: string;
  readonly #layers: LayerPolicy;
  #phase: Phase = 'empty';
  #spec: GenerationSpec | null = null;
  #index = 0;
  #leader = '';
  /** The last `deploy` or `adopt`: what was sent before it and comes later has no effect. */
  #ledBy = { start: 0, sequence: 0 };
  #subtasks: Subtasks | null = null;
  #restore: RestoreTask | null = null;
  #checkpoints: HostCheckpoints | null = null;
  readonly #commits = new HostCommits();
  /** Incarnation of every host heard of, by index. */
  #peers = new Map<number, string>();
  #pending = new Map<number, Pending>();
  #nextRequest = 1;
  #sourcesOpen = false;
  #drainReported = false;
  #graceful = false;
  #lastTickMs = 0;
  #effects: HostEffect[] = [];
  #cutInStep = false;
  readonly #metrics = new HostMetrics();
  #nowMs = 0;

  /** @param incarnation fresh for every start of the object */
  constructor(incarnation: string, layers: LayerPolicy = LAYER_POLICY) {
    this.#incarnation = incarnation;
    this.#layers = layers;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** The leader to report to, once deployed. */
  get identity(): {
    pipelineId: string;
    generation: number;
    leader: string;
    index: number;
    incarnation: string;
  } | null {
    if (this.#spec === null) return null;
    const { pipelineId, generation } = this.#spec;
    return {
      pipelineId,
      generation,
      leader: this.#leader,
      index: this.#index,
      incarnation: this.#incarnation,
    };
  }

  /** One step. Nothing is thrown: a failure becomes a `failed` report. */
  handle(event: HostEvent, nowMs: number): HostStep {
    this.#effects = [];
    this.#cutInStep = false;
    this.#nowMs = nowMs;
    let busy = false;
    try {
      busy = this.#dispatch(event);
      if (this.#phase !== 'stopped') this.#afterStep();
    } catch (thrown) {
      this.#fail(reportOf(thrown), '');
    }
    return { effects: this.#effects, busy, wakeAtMs: this.#wakeAtMs(), cut: this.#cutInStep };
  }

  #dispatch(event: HostEvent): boolean {
    switch (event.tag) {
      case 'command':
        this.#effects.push({
          tag: 'answer',
          requestId: event.requestId,
          answer: this.#onCommand(event.envelope),
        });
        return true;
      case 'delivery':
        this.#onDelivery(event.delivery, event.requestId);
        return true;
      case 'run':
        return this.#run();
      case 'delivered':
        this.#onDelivered(event.edge, event.to, event.answer);
        return true;
      case 'read':
        this.#subtasks?.sources.get(event.operator)?.onRead(event.partition, event.result);
        return true;
      case 'file-read':
        this.#onFileRead(event.requestId, event.bytes);
        return true;
      case 'pre-committed':
      case 'file-put':
        this.#pending.delete(event.requestId);
        this.#checkpoints?.answered(event.requestId);
        return false;
      case 'staged': {
        const pending = this.#pending.get(event.requestId);
        this.#pending.delete(event.requestId);
        if (pending?.tag === 'stage') pending.sink.onStaged(pending.index, event.staged);
        return false;
      }
      case 'committed':
        this.#onCommitted(event.requestId);
        return false;
      case 'called': {
        const pending = this.#pending.get(event.requestId);
        this.#pending.delete(event.requestId);
        if (pending?.tag === 'call') pending.body.answered(pending.ticket, event.reply);
        return true;
      }
      case 'cut-took':
        this.#checkpoints?.cutTook(event.ms);
        return false;
      case 'abandoned':
        if (this.#phase !== 'stopped') this.#release();
        return false;
      case 'effect-failed':
        if (this.#pending.delete(event.requestId)) this.#fail(event.report, '');
        return false;
    }
  }

  #onCommand(envelope: CommandEnvelope): CommandAnswer {
    const { command } = envelope;
    const mine =
      envelope.host === this.#incarnation || (envelope.host === null && command.tag === 'deploy');
    if (!mine || (this.#spec === null && command.tag !== 'deploy')) {
      return { tag: 'unknown-incarnation', incarnation: this.#incarnation };
    }
    if (this.#spec !== null && envelope.generation !== this.#spec.generation) {
      return { tag: 'unknown-incarnation', incarnation: this.#incarnation };
    }
    if (this.#isOutdated(envelope)) return { tag: 'stale-leader' };
    if (command.tag === 'deploy' || command.tag === 'adopt') {
      this.#leader = envelope.leader;
      this.#ledBy = { start: envelope.leaderStart, sequence: envelope.sequence };
    } else if (envelope.leader !== this.#leader) return { tag: 'stale-leader' };
    if (this.#phase === 'stopped') {
      return command.tag === 'stop'
        ? { tag: 'accepted' }
        : { tag: 'unknown-incarnation', incarnation: this.#incarnation };
    }
    this.#obey(command);
    return { tag: 'accepted' };
  }

  /** A late `deploy` would take the rows back that were read since; a late `begin` would begin too early. */
  #isOutdated({ leaderStart, sequence }: CommandEnvelope): boolean {
    const { start, sequence: last } = this.#ledBy;
    return leaderStart < start || (leaderStart === start && sequence < last);
  }

  #obey(command: HostCommand): void {
    switch (command.tag) {
      case 'deploy':
        this.#deploy(command);
        return;
      case 'adopt':
        this.#metrics.hasten();
        if (this.#phase === 'ready' || this.#phase === 'running') this.#reportDeployed();
        return;
      case 'begin':
        if (this.#phase !== 'ready') return;
        command.hosts?.forEach((host, index) => this.#meet(index, host));
        this.#phase = 'running';
        this.#sourcesOpen = true;
        return;
      case 'barrier':
        this.#onBarrier(command);
        return;
      case 'commit':
        this.#commit(command.epoch, command.items);
        return;
      case 'settled':
        this.#settle(command);
        return;
      case 'stop':
        if (command.mode === 'graceful') {
          this.#sourcesOpen = false;
          this.#graceful = true;
        } else this.#stop();
        return;
    }
  }

  /** Notes who host `index` is; one that is somebody else by now has lost what it was sent. */
  #meet(index: number, incarnation: string): void {
    const known = this.#peers.get(index) ?? incarnation;
    if (known !== incarnation)
      throw new EngineError('HOST_LOST', `host ${index} was created again`);
    this.#peers.set(index, incarnation);
  }

  #deploy(command: HostCommand & { tag: 'deploy' }): void {
    const { spec, index, checkpoint } = command;
    this.#spec = spec;
    this.#index = index;
    this.#phase = 'restoring';
    this.#sourcesOpen = false;
    this.#pending.clear();
    this.#peers.clear();
    this.#drainReported = false;
    const redacted = redactedOperators(spec.graph);
    this.#subtasks = buildSubtasks(spec, index, this.#incarnation, (checkpoint?.epoch ?? 0) + 2, {
      read: (operator, partition, request) =>
        this.#effects.push({ tag: 'read', operator, partition, request }),
      fail: (operator, report) => this.#fail(report, operator),
      problems: (node, kind, problems) =>
        this.#metrics.note(
          node,
          kind,
          problems,
          this.#index,
          this.#nowMs,
          redacted.has(node.operator.id),
        ),
      stage: (sink, index, request) => {
        const requestId = this.#request({ tag: 'stage', sink, index });
        this.#effects.push({
          tag: 'stage',
          requestId,
          connector: must(this.#subtasks, 'subtasks').connectorOf(sink.operator),
          request,
        });
      },
      call: (body, ticket, request) => {
        const requestId = this.#request({ tag: 'call', body, ticket });
        const { operator } = body;
        this.#effects.push({ tag: 'call-function', requestId, operator, request });
      },
      preview: (sink, rows, count) =>
        this.#effects.push({ tag: 'preview', operator: sink.operator, rows, count }),
    });
    const port: CheckpointPort = {
      spec,
      index,
      incarnation: this.#incarnation,
      leader: () => this.#leader,
      upload: (nameOf, bytes) => {
        const requestId = this.#request({ tag: 'upload' });
        const key = nameOf(requestId);
        this.#effects.push({ tag: 'put-file', requestId, key, bytes });
        return { requestId, key };
      },
      preCommit: (sink, epoch, items) => {
        const requestId = this.#request({ tag: 'pre-commit' });
        const token = tokenOf(spec, sink, epoch);
        const timeoutMs = spec.settings.checkpointTimeoutMs;
        this.#effects.push({ tag: 'pre-commit', requestId, token, items, timeoutMs });
        return requestId;
      },
    };
    this.#checkpoints = new HostCheckpoints(this.#subtasks, port, this.#layers);
    this.#restore = new RestoreTask(checkpoint, this.#subtasks, index);
    for (const key of this.#restore.keys) {
      const requestId = this.#request({ tag: 'restore' });
      this.#restore.requested(requestId, key);
      this.#effects.push({ tag: 'get-file', requestId, key });
    }
    this.#finishRestore();
  }

  #onFileRead(requestId: number, bytes: Uint8Array): void {
    const pending = this.#pending.get(requestId);
    this.#pending.delete(requestId);
    if (pending?.tag !== 'restore' || this.#restore === null) return;
    this.#restore.onFile(requestId, bytes);
    this.#finishRestore();
  }

  #finishRestore(): void {
    if (this.#restore === null || !this.#restore.complete) return;
    this.#restore.apply();
    this.#restore = null;
    this.#phase = 'ready';
    this.#reportDeployed();
  }

  #reportDeployed(): void {
    const report = {
      tag: 'deployed',
      drained: this.#drained(),
      answers: this.#ledBy.sequence,
    } as const;
    this.#effects.push({ tag: 'report', report });
  }

  #onBarrier(command: HostCommand & { tag: 'barrier' }): void {
    if (this.#phase !== 'running' && this.#phase !== 'ready') return;
    if (command.stopping) this.#sourcesOpen = false;
    const { epoch, attempt } = command;
    const checkpoints = must(this.#checkpoints, 'checkpoints');
    if (checkpoints.begin({ epoch, attempt }, this.#nowMs)) this.#cutInStep = true;
  }

  #onDelivery(delivery: Delivery, requestId: number): void {
    const answer = this.#accept(delivery, requestId);
    if (answer !== null) this.#effects.push({ tag: 'answer-delivery', requestId, answer });
  }

  #accept(delivery: Delivery, requestId: number): DeliveryAnswer | null {
    if (
      this.#spec === null ||
      delivery.generation !== this.#spec.generation ||
      this.#subtasks === null
    ) {
      return { tag: 'refused', reason: 'not deployed' };
    }
    if (this.#phase === 'stopped') return { tag: 'refused', reason: 'stopped' };
    this.#meet(delivery.from, delivery.fromHost);
    const channel = this.#subtasks.channelOf(delivery.edge, delivery.from);
    if (channel === undefined || delivery.to !== this.#index)
      return { tag: 'refused', reason: 'no such channel' };
    return channel.receive(delivery, requestId);
  }

  #onDelivered(edge: string, to: number, answer: DeliveryAnswer): void {
    if (answer.tag === 'refused') {
      throw new EngineError('HOST_LOST', `host ${to} refused rows of ${edge}: ${answer.reason}`);
    }
    this.#subtasks?.outputOf(edge, to)?.onAnswered();
  }

  /** Works for a while; true when there may be more to do at once. */
  #run(): boolean {
    if (this.#subtasks === null || (this.#phase !== 'running' && this.#phase !== 'ready'))
      return false;
    const stages = this.#subtasks.stages;
    let done = 0;
    for (let index = stages.length - 1; index >= 0; index--) {
      const stage = stages[index] as StageRuntime;
      const step = stage.step(this.#nowMs, STAGE_BUDGET, this.#sourcesOpen);
      done += step.done;
      if (step.aligned) {
        this.#cutInStep = true;
        this.#checkpoints?.cut(stage, this.#nowMs);
        done++;
      }
    }
    if (this.#checkpoints?.encodeNext() === true) done++;
    // A clock may be set back; and nothing may leave on its own account before all hosts are ready.
    if (Math.abs(this.#nowMs - this.#lastTickMs) >= TICK_MS) {
      this.#lastTickMs = this.#nowMs;
      if (this.#phase === 'running') for (const stage of stages) stage.tick(this.#nowMs);
      checkStateBudget(this.#subtasks, must(this.#spec, 'generation spec').settings.stateBytesMax);
    }
    return done > 0;
  }

  /** What every step ends with: deliveries out, answers held back, reports that have come due. */
  #afterStep(): void {
    const subtasks = this.#subtasks;
    if (subtasks === null || this.#phase === 'restoring') return;
    for (const output of subtasks.remoteOutputs) {
      const next = output.nextDelivery();
      if (next !== null)
        this.#effects.push({ tag: 'deliver', edge: output.edge, to: output.to, ...next });
    }
    for (const channel of subtasks.channels) {
      for (const requestId of channel.releaseHeld()) {
        this.#effects.push({ tag: 'answer-delivery', requestId, answer: { tag: 'accepted' } });
      }
    }
    this.#reportCheckpoint(subtasks);
    if (!this.#drainReported && this.#drained()) {
      this.#drainReported = true;
      this.#effects.push({ tag: 'report', report: { tag: 'drained' } });
    }
    if (this.#graceful && subtasks.quiet) {
      this.#graceful = false;
      this.#effects.push({ tag: 'report', report: { tag: 'stopped' } });
    }
    this.#heartbeat(subtasks);
  }

  #heartbeat(subtasks: Subtasks): void {
    const { heartbeatIntervalMs } = must(this.#spec, 'generation spec').settings;
    const heartbeat = this.#metrics.heartbeat(
      subtasks,
      this.#index,
      this.#nowMs,
      heartbeatIntervalMs,
    );
    if (heartbeat !== null) this.#effects.push({ tag: 'report', report: heartbeat });
  }

  #reportCheckpoint(subtasks: Subtasks): void {
    const report = this.#checkpoints?.report(this.#drained(), this.#nowMs) ?? null;
    if (report === null) return;
    // What the checkpoint's counters say is seen no later than the checkpoint.
    this.#metrics.hasten();
    this.#heartbeat(subtasks);
    this.#effects.push({ tag: 'report', report });
  }

  #commit(epoch: number, items: readonly SinkItem[]): void {
    if (items.length === 0) {
      this.#effects.push({ tag: 'report', report: { tag: 'committed', epoch, sinks: [] } });
      return;
    }
    for (const [sink, own] of this.#commits.begin(epoch, items)) {
      const requestId = this.#request({ tag: 'commit', epoch, sink });
      const connector = must(this.#subtasks, 'subtasks').connectorOf(sink);
      const spec = must(this.#spec, 'generation spec');
      const token = tokenOf(spec, sink, epoch);
      const timeoutMs = spec.settings.commitTimeoutMs;
      const call = { requestId, epoch, sink, connector, token, items: own, timeoutMs };
      this.#effects.push({ tag: 'commit', ...call });
    }
  }

  #onCommitted(requestId: number): void {
    const pending = this.#pending.get(requestId);
    this.#pending.delete(requestId);
    if (pending?.tag !== 'commit' || !this.#commits.finish(pending.epoch, pending.sink)) return;
    const { epoch, sink } = pending;
    this.#effects.push({ tag: 'report', report: { tag: 'committed', epoch, sinks: [sink] } });
  }

  #settle({ epoch, attempt }: HostCommand & { tag: 'settled' }): void {
    for (const position of this.#checkpoints?.settle({ epoch, attempt }) ?? []) {
      this.#effects.push({ tag: 'trim', ...position });
    }
  }

  #drained(): boolean {
    return (
      this.#subtasks !== null &&
      this.#phase !== 'restoring' &&
      this.#subtasks.stages.every((stage) => stage.drained)
    );
  }

  #stop(): void {
    this.#effects.push({ tag: 'report', report: { tag: 'stopped' } });
    this.#release();
  }

  #fail(report: ErrorReport, operator: string): void {
    if (this.#phase === 'stopped') return;
    this.#effects.push({ tag: 'report', report: { tag: 'failed', report, operator } });
    this.#release();
  }

  #release(): void {
    this.#phase = 'stopped';
    this.#subtasks = null;
    this.#checkpoints = null;
    this.#pending.clear();
    this.#effects.push({ tag: 'released' });
  }

  #request(pending: Pending): number {
    const requestId = this.#nextRequest++;
    this.#pending.set(requestId, pending);
    return requestId;
  }

  #wakeAtMs(): number | null {
    if (this.#subtasks === null || this.#phase === 'restoring') return null;
    let wake = this.#nowMs + TICK_MS;
    for (const stage of this.#subtasks.stages) {
      const at = stage.wakeAtMs(this.#nowMs);
      if (at !== null && at < wake) wake = at;
    }
    return wake;
  }
}
