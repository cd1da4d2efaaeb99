/**
 * The hosts of one measured run, inside workerd: the product's `HostMachine` with everything below it (sources, decoder,
 * operators, sinks, checkpoints), driven as the shell of the Durable Object drives it (`durable-objects/subtask-host.ts`).
 *
 * What differs from the product: no leader, so no epochs are claimed; objects are read from a file through a `disk`
 * service of workerd instead of R2; what a sink stages is counted and, when a folder is given, kept there; state files
 * stay in memory; hosts of one run hand frames to each other in this process.
 */
import { EngineError, reportOf } from '../../src/base/errors.ts';
import type { ReadRequest, ReadResult } from '../../src/connectors/connector.ts';
import type { CheckpointManifest } from '../../src/lineage/types.ts';
import type {
  Delivery,
  DeliveryAnswer,
  GenerationSpec,
  HostCommand,
  HostReport,
  OperatorMetrics,
} from '../../src/protocol/messages.ts';
import type { HostEffect, HostEvent } from '../../src/subtask/host-events.ts';
import { HostMachine } from '../../src/subtask/host-machine.ts';

export type Files = {
  /** Bytes of a file from an offset on; null when there is no such file. */
  read(
    path: string,
    offset: number,
    length: number,
  ): Promise<{ bytes: Uint8Array; size: number } | null>;
  write: Fetcher | null;
};

type Checkpointed = HostReport & { tag: 'checkpointed' };

const LEADER = 'bench';

export class BenchHost {
  readonly incarnation: string;
  readonly #machine: HostMachine;
  readonly #spec: GenerationSpec;
  readonly #index: number;
  readonly #files: Files;
  readonly #state: Map<string, Uint8Array>;
  readonly #deliveries = new Map<number, (answer: DeliveryAnswer) => void>();
  /** Called before each read, with the offset it begins at. */
  onRead: ((offset: number) => Promise<void>) | null = null;
  readonly #waiting = new Map<string, (report: HostReport) => void>();
  #metrics: OperatorMetrics[] = [];
  #problem: string | null = null;
  #peers: readonly BenchHost[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;
  #timerAtMs = Infinity;
  #requests = 1;
  #sequence = 1;
  #writes: Promise<unknown>[] = [];
  #fail: ((reason: unknown) => void) | null = null;
  #failed: unknown = null;
  stagedBytes = 0;
  stagedRows = 0;

  constructor(spec: GenerationSpec, index: number, files: Files, state: Map<string, Uint8Array>) {
    this.incarnation = `bench-${index}`;
    this.#machine = new HostMachine(this.incarnation);
    this.#spec = spec;
    this.#index = index;
    this.#files = files;
    this.#state = state;
  }

  get metrics(): readonly OperatorMetrics[] {
    return this.#metrics;
  }

  /** Of the rows that could not be processed, the first one's reason. */
  get problem(): string | null {
    return this.#problem;
  }

  meet(peers: readonly BenchHost[]): void {
    this.#peers = peers;
  }

  async deploy(checkpoint: CheckpointManifest | null): Promise<void> {
    const deployed = this.#next('deployed');
    this.#command({ tag: 'deploy', spec: this.#spec, index: this.#index, checkpoint });
    await deployed;
  }

  /** Reads until every source has ended and everything is processed. */
  async drain(): Promise<void> {
    const drained = this.#next('drained');
    this.#command({ tag: 'begin', hosts: this.#peers.map((peer) => peer.incarnation) });
    this.#schedule(0);
    await drained;
  }

  /** Begins a checkpoint: when this returns, rows may flow again. The promise: everything is encoded and stored. */
  checkpoint(epoch: number): Promise<Checkpointed> {
    // A timer of an earlier request never fires.
    this.#timer = null;
    this.#timerAtMs = Infinity;
    const reported = this.#next('checkpointed');
    this.#command({ tag: 'barrier', epoch, attempt: 1, stopping: false });
    return reported as Promise<Checkpointed>;
  }

  /** The checkpoint is canonical: the next one may stand on it. */
  confirm(epoch: number): void {
    this.#command({ tag: 'settled', epoch, attempt: 1 });
  }

  /** Waits for what was written, and lets the next heartbeat tell the counters. */
  async settle(): Promise<void> {
    const told = this.#next('heartbeat');
    this.#command({ tag: 'adopt', drained: true });
    await told;
    await Promise.all(this.#writes);
  }

  stop(): void {
    this.#command({ tag: 'stop', mode: 'immediate' });
  }

  async deliver(delivery: Delivery): Promise<DeliveryAnswer> {
    const requestId = this.#requests++;
    return await new Promise((resolve) => {
      this.#deliveries.set(requestId, resolve);
      this.#feed({ tag: 'delivery', delivery, requestId });
    });
  }

  async #next(tag: HostReport['tag']): Promise<HostReport> {
    if (this.#failed !== null) throw this.#failed;
    return await new Promise((resolve, reject) => {
      this.#fail = reject;
      this.#waiting.set(tag, resolve);
    });
  }

  #command(command: HostCommand): void {
    const { pipelineId, generation } = this.#spec;
    const envelope = {
      pipelineId,
      generation,
      leader: LEADER,
      leaderStart: 1,
      host: command.tag === 'deploy' ? null : this.incarnation,
      sequence: this.#sequence++,
      command,
    };
    this.#feed({ tag: 'command', envelope, requestId: this.#requests++ });
  }

  #feed(event: HostEvent): void {
    const step = this.#machine.handle(event, Date.now());
    for (const effect of step.effects) this.#perform(effect);
    if (step.busy) this.#schedule(0);
    else if (step.wakeAtMs !== null) this.#schedule(step.wakeAtMs);
  }

  #schedule(atMs: number): void {
    if (this.#machine.phase === 'stopped') return;
    if (this.#timer !== null && this.#timerAtMs <= atMs) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#timerAtMs = Infinity;
        this.#feed({ tag: 'run' });
      },
      Math.max(0, atMs - Date.now()),
    );
  }

  #perform(effect: HostEffect): void {
    switch (effect.tag) {
      case 'report':
        this.#onReport(effect.report);
        return;
      case 'read':
        void this.#read(effect.operator, effect.partition, effect.request);
        return;
      case 'deliver':
        void this.#send(effect);
        return;
      case 'answer-delivery':
        this.#deliveries.get(effect.requestId)?.(effect.answer);
        this.#deliveries.delete(effect.requestId);
        return;
      case 'put-file':
        this.#state.set(effect.key, effect.bytes);
        queueMicrotask(() => this.#feed({ tag: 'file-put', requestId: effect.requestId }));
        return;
      case 'get-file': {
        const bytes = this.#state.get(effect.key);
        if (bytes === undefined) throw new Error(`no state file ${effect.key}`);
        const { requestId } = effect;
        queueMicrotask(() => this.#feed({ tag: 'file-read', requestId, bytes }));
        return;
      }
      case 'stage':
        this.#stage(effect);
        return;
      case 'pre-commit':
        queueMicrotask(() => this.#feed({ tag: 'pre-committed', requestId: effect.requestId }));
        return;
      case 'answer':
        if (effect.answer.tag !== 'accepted') this.#giveUp(new Error(effect.answer.tag));
        return;
      case 'released':
        if (this.#timer !== null) clearTimeout(this.#timer);
        this.#timer = null;
        return;
      case 'preview':
      case 'trim':
      case 'commit':
        return;
    }
  }

  #onReport(report: HostReport): void {
    if (report.tag === 'failed') {
      const { code, message, ...extras } = report.report;
      this.#giveUp(new EngineError(code, message, extras));
      return;
    }
    if (report.tag === 'heartbeat') {
      this.#metrics = report.metrics;
      this.#problem ??= report.problems[0]?.message ?? null;
    }
    const told = this.#waiting.get(report.tag);
    this.#waiting.delete(report.tag);
    told?.(report);
  }

  #giveUp(reason: unknown): void {
    this.#failed = reason;
    this.#fail?.(reason);
  }

  #stage({ requestId, request }: HostEffect & { tag: 'stage' }): void {
    const { key, bytes, rows } = request;
    this.stagedBytes += bytes.byteLength;
    this.stagedRows += rows;
    const name = `piece-${this.#index}-${requestId}`;
    const kept = this.#files.write?.fetch(`http://files/${name}`, { method: 'PUT', body: bytes });
    if (kept !== undefined) this.#writes.push(kept.then((response) => response.arrayBuffer()));
    const staged = { key, uploadId: null, etag: '', size: bytes.byteLength, rows };
    queueMicrotask(() => this.#feed({ tag: 'staged', requestId, staged }));
  }

  async #send({ edge, to, sequence, frames }: HostEffect & { tag: 'deliver' }): Promise<void> {
    const { pipelineId, generation } = this.#spec;
    const target = this.#peers[to];
    if (target === undefined) throw new Error(`no host ${to}`);
    const answer = await target.deliver({
      pipelineId,
      generation,
      edge,
      from: this.#index,
      to,
      fromHost: this.incarnation,
      sequence,
      frames: structuredClone(frames),
    });
    this.#feed({ tag: 'delivered', edge, to, answer });
  }

  async #read(operator: string, partition: number, request: ReadRequest): Promise<void> {
    let result: ReadResult;
    try {
      result = await this.#readOnce(request);
    } catch (thrown) {
      result = { tag: 'failed', report: reportOf(thrown) };
    }
    this.#feed({ tag: 'read', operator, partition, result });
  }

  async #readOnce(request: ReadRequest): Promise<ReadResult> {
    if (request.tag !== 'object') throw new Error('only objects are read here');
    const { path, offset, length } = request;
    await this.onRead?.(offset);
    const part = await this.#files.read(path, offset, length);
    return part === null ? { tag: 'missing', path } : { tag: 'object', ...part };
  }
}
