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
import type { SinkItem } from '../lineage/types.ts';
import type {
  CommandAnswer,
  CommandEnvelope,
  Delivery,
  DeliveryAnswer,
  GenerationSpec,
  HostCommand,
} from '../protocol/messages.ts';
import { HostCheckpoints } from './host-checkpoints.ts';
import { HostCommits, tokenOf } from './host-commits.ts';
import type { HostEvent, HostStep } from './host-events.ts';
import { HostLeadership } from './host-leadership.ts';
import { HostMetrics } from './host-metrics.ts';
import { HostOutbox } from './host-outbox.ts';
import { checkpointPort, type PortHost, subtaskPort } from './host-ports.ts';
import { RestoreTask } from './restore-task.ts';
import type { StageRuntime } from './stage-runtime.ts';
import { checkStateBudget } from './state-budget.ts';
import { LAYER_POLICY, type LayerPolicy } from './state-layers.ts';
import { buildSubtasks, type Subtasks } from './subtasks.ts';

type Phase = 'empty' | 'restoring' | 'ready' | 'running' | 'stopped';

/** Units of work (batches or frames) of one stage in one step. */
const STAGE_BUDGET = 8;
const TICK_MS = 100;

export class HostMachine {
  readonly #incarnation: string;
  readonly #layers: LayerPolicy;
  #phase: Phase = 'empty';
  #spec: GenerationSpec | null = null;
  #index = 0;
  readonly #leadership = new HostLeadership();
  #subtasks: Subtasks | null = null;
  #restore: RestoreTask | null = null;
  #checkpoints: HostCheckpoints | null = null;
  readonly #commits = new HostCommits();
  /** Incarnation of every host heard of, by index. */
  #peers = new Map<number, string>();
  #sourcesOpen = false;
  #drainReported = false;
  #graceful = false;
  #lastTickMs = 0;
  readonly #outbox = new HostOutbox();
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
      leader: this.#leadership.leader,
      index: this.#index,
      incarnation: this.#incarnation,
    };
  }

  /** One step. Nothing is thrown: a failure becomes a `failed` report. */
  handle(event: HostEvent, nowMs: number): HostStep {
    this.#outbox.beginStep();
    this.#cutInStep = false;
    this.#nowMs = nowMs;
    let busy = false;
    try {
      busy = this.#dispatch(event);
      if (this.#phase !== 'stopped') this.#afterStep();
    } catch (thrown) {
      this.#fail(reportOf(thrown), '');
    }
    const { effects } = this.#outbox;
    return { effects, busy, wakeAtMs: this.#wakeAtMs(), cut: this.#cutInStep };
  }

  #dispatch(event: HostEvent): boolean {
    switch (event.tag) {
      case 'command':
        this.#outbox.push({
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
        this.#outbox.answered(event.requestId);
        this.#checkpoints?.answered(event.requestId);
        return false;
      case 'staged': {
        const pending = this.#outbox.answered(event.requestId);
        if (pending?.tag === 'stage') pending.sink.onStaged(pending.index, event.staged);
        return true;
      }
      case 'committed':
        this.#onCommitted(event.requestId);
        return false;
      case 'called': {
        const pending = this.#outbox.answered(event.requestId);
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
        if (this.#outbox.answered(event.requestId) !== undefined) this.#fail(event.report, '');
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
    if (!this.#leadership.follows(envelope)) return { tag: 'stale-leader' };
    if (this.#phase === 'stopped') {
      return command.tag === 'stop'
        ? { tag: 'accepted' }
        : { tag: 'unknown-incarnation', incarnation: this.#incarnation };
    }
    this.#obey(command);
    return { tag: 'accepted' };
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
    this.#outbox.giveUp();
    this.#peers.clear();
    this.#drainReported = false;
    const ports: PortHost = {
      spec,
      index,
      incarnation: this.#incarnation,
      outbox: this.#outbox,
      metrics: this.#metrics,
      leader: () => this.#leadership.leader,
      nowMs: () => this.#nowMs,
      subtasks: () => must(this.#subtasks, 'subtasks'),
      fail: (report, operator) => this.#fail(report, operator),
    };
    const firstEpoch = (checkpoint?.epoch ?? 0) + 2;
    this.#subtasks = buildSubtasks(spec, index, this.#incarnation, firstEpoch, subtaskPort(ports));
    this.#checkpoints = new HostCheckpoints(this.#subtasks, checkpointPort(ports), this.#layers);
    this.#restore = new RestoreTask(checkpoint, this.#subtasks, index);
    for (const key of this.#restore.keys) {
      const requestId = this.#outbox.request({ tag: 'restore' });
      this.#restore.requested(requestId, key);
      this.#outbox.push({ tag: 'get-file', requestId, key });
    }
    this.#finishRestore();
  }

  #onFileRead(requestId: number, bytes: Uint8Array): void {
    const pending = this.#outbox.answered(requestId);
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
    const answers = this.#leadership.sequence;
    this.#outbox.report({ tag: 'deployed', drained: this.#drained(), answers });
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
    if (answer !== null) this.#outbox.push({ tag: 'answer-delivery', requestId, answer });
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
        this.#outbox.push({ tag: 'deliver', edge: output.edge, to: output.to, ...next });
    }
    for (const channel of subtasks.channels) {
      for (const requestId of channel.releaseHeld()) {
        this.#outbox.push({ tag: 'answer-delivery', requestId, answer: { tag: 'accepted' } });
      }
    }
    this.#reportCheckpoint(subtasks);
    if (!this.#drainReported && this.#drained()) {
      this.#drainReported = true;
      this.#outbox.report({ tag: 'drained' });
    }
    if (this.#graceful && subtasks.quiet) {
      this.#graceful = false;
      this.#outbox.report({ tag: 'stopped' });
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
    if (heartbeat !== null) this.#outbox.report(heartbeat);
  }

  #reportCheckpoint(subtasks: Subtasks): void {
    const report = this.#checkpoints?.report(this.#drained(), this.#nowMs) ?? null;
    if (report === null) return;
    // What the checkpoint's counters say is seen no later than the checkpoint.
    this.#metrics.hasten();
    this.#heartbeat(subtasks);
    this.#outbox.report(report);
  }

  #commit(epoch: number, items: readonly SinkItem[]): void {
    if (items.length === 0) {
      this.#outbox.report({ tag: 'committed', epoch, sinks: [] });
      return;
    }
    for (const [sink, own] of this.#commits.begin(epoch, items)) {
      const requestId = this.#outbox.request({ tag: 'commit', epoch, sink });
      const connector = must(this.#subtasks, 'subtasks').connectorOf(sink);
      const spec = must(this.#spec, 'generation spec');
      const token = tokenOf(spec, sink, epoch);
      const timeoutMs = spec.settings.commitTimeoutMs;
      const call = { requestId, epoch, sink, connector, token, items: own, timeoutMs };
      this.#outbox.push({ tag: 'commit', ...call });
    }
  }

  #onCommitted(requestId: number): void {
    const pending = this.#outbox.answered(requestId);
    if (pending?.tag !== 'commit' || !this.#commits.finish(pending.epoch, pending.sink)) return;
    const { epoch, sink } = pending;
    this.#outbox.report({ tag: 'committed', epoch, sinks: [sink] });
  }

  #settle({ epoch, attempt }: HostCommand & { tag: 'settled' }): void {
    for (const position of this.#checkpoints?.settle({ epoch, attempt }) ?? []) {
      this.#outbox.push({ tag: 'trim', ...position });
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
    this.#outbox.report({ tag: 'stopped' });
    this.#release();
  }

  #fail(report: ErrorReport, operator: string): void {
    if (this.#phase === 'stopped') return;
    this.#outbox.report({ tag: 'failed', report, operator });
    this.#release();
  }

  #release(): void {
    this.#phase = 'stopped';
    this.#subtasks = null;
    this.#checkpoints = null;
    this.#outbox.giveUp();
    this.#outbox.push({ tag: 'released' });
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
