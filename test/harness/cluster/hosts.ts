/**
 * Hosts of the simulated cluster: the production machine behind a shell whose calls are late, lost and repeated.
 *
 * A crashed host loses its memory and bears a new incarnation; what it had under way may still land.
 */
import { assert, must } from '../../../src/base/assert.ts';
import { EngineError, type ErrorCode, reportOf } from '../../../src/base/errors.ts';
import type { ReadRequest, ReadResult } from '../../../src/connectors/connector.ts';
import type {
  CommandAnswer,
  CommandEnvelope,
  HostReport,
  ReportAnswer,
  ReportEnvelope,
} from '../../../src/protocol/messages.ts';
import type { HostEffect, HostEvent, HostStep } from '../../../src/subtask/host-events.ts';
import { HostMachine } from '../../../src/subtask/host-machine.ts';
import type { LayerPolicy } from '../../../src/subtask/state-layers.ts';
import { answerAtOnce } from '../function-double.ts';
import { hostNode, leaderNode } from './network.ts';
import type { World } from './world.ts';

/** Small states of simulated pipelines, and yet layers, parts and new beginnings. */
const EAGER_LAYERS: LayerPolicy = { wholeBytesMin: 0, layersMax: 4, partBytesMax: 200 };

const REPORT_PAUSE_MS = 100;
const DISOWNED_MS = 60_000;
const LATE_MAX_MS = 4_000;
const DELIVERY_ATTEMPTS_MAX = 3;

export type HostCell = {
  machine: HostMachine;
  incarnation: string;
  alive: boolean;
  index: number;
  generation: number;
  reports: HostReport[];
  reporting: boolean;
  sequence: number;
  runAtMs: number;
  /** What its clock shows more than that of the others. */
  skewMs: number;
  disownedSinceMs: number | null;
  /** Last watermark heard of, by operator. */
  watermarks: Map<string, number>;
};

/** What hosts ask of the rest of the cluster. */
export type HostPort = {
  /** The watch of the leader on this host breaks. */
  hostLost(host: HostCell): void;
  /** The leader's answer; null when there is nobody to answer. */
  report(envelope: ReportEnvelope): ReportAnswer | null;
  currentGeneration(): number;
};

export class Hosts {
  readonly #world: World;
  readonly #port: HostPort;
  readonly #cells = new Map<string, HostCell>();
  readonly #waiting = new Map<string, { from: HostCell; edge: string; to: number }>();

  constructor(world: World, port: HostPort) {
    this.#world = world;
    this.#port = port;
  }

  get(generation: number, index: number): HostCell | undefined {
    return this.#cells.get(`${generation}/${index}`);
  }

  /** Objects come to be when they are first called. */
  #object(generation: number, index: number): HostCell {
    return this.get(generation, index) ?? this.create(generation, index);
  }

  create(generation: number, index: number): HostCell {
    const incarnation = `h${generation}x${index}x${this.#world.unique()}`;
    const cell: HostCell = {
      machine: new HostMachine(incarnation, EAGER_LAYERS),
      incarnation,
      alive: true,
      index,
      generation,
      reports: [],
      reporting: false,
      sequence: 0,
      runAtMs: Infinity,
      skewMs: 0,
      disownedSinceMs: null,
      watermarks: new Map(),
    };
    this.#cells.set(`${generation}/${index}`, cell);
    return cell;
  }

  command(generation: number, index: number, envelope: CommandEnvelope): CommandAnswer | null {
    const host = this.#object(generation, index);
    const { effects } = this.#feed(host, { tag: 'command', envelope, requestId: 1 });
    const answered = effects.find((candidate) => candidate.tag === 'answer');
    return answered?.tag === 'answer' ? answered.answer : null;
  }

  #feed(host: HostCell, event: HostEvent): HostStep {
    const { clock } = this.#world;
    const step = host.machine.handle(event, clock.nowMs + host.skewMs);
    for (const effect of step.effects) {
      if (this.#world.dice.strikes('hostCut')) this.crash(host);
      if (!host.alive) return step;
      this.#perform(host, effect);
    }
    if (step.busy) this.#scheduleRun(host, clock.nowMs);
    else if (step.wakeAtMs !== null) this.#scheduleRun(host, step.wakeAtMs - host.skewMs);
    return step;
  }

  #scheduleRun(host: HostCell, wantedMs: number): void {
    const { clock } = this.#world;
    const atMs = Math.max(wantedMs, clock.nowMs);
    if (host.runAtMs <= atMs && host.runAtMs >= clock.nowMs) return;
    host.runAtMs = atMs;
    clock.at(atMs, () => {
      if (!host.alive || host.runAtMs !== atMs) return;
      host.runAtMs = Infinity;
      this.#feed(host, { tag: 'run' });
    });
  }

  #perform(host: HostCell, effect: HostEffect): void {
    const world = this.#world;
    switch (effect.tag) {
      case 'report':
        return this.#report(host, effect.report);
      case 'deliver':
        world.later(
          () => this.#deliver(host, effect),
          null,
          world.dice.lateMs('deliverySlow', LATE_MAX_MS),
        );
        return;
      case 'answer-delivery':
        return this.#answerDelivery(
          host,
          effect.requestId,
          effect.answer.tag === 'refused' ? effect.answer.reason : null,
        );
      case 'read':
        return this.#read(host, effect);
      case 'get-file':
        return this.#getFile(host, effect);
      case 'put-file':
        return this.#putFile(host, effect);
      case 'stage':
        return this.#stage(host, effect);
      case 'pre-commit': {
        const { requestId } = effect;
        world.later(() => this.#feed(host, { tag: 'pre-committed', requestId }), host);
        return;
      }
      case 'commit':
        return this.#commit(host, effect);
      case 'trim':
        world.later(
          () => {
            world.options.logs
              ?.log(effect.table, effect.partition)
              .trim(effect.offset, world.clock.nowMs);
          },
          null,
          world.dice.lateMs('commandLate', LATE_MAX_MS),
        );
        return;
      case 'call-function':
        return this.#call(host, effect);
      case 'answer':
      case 'preview':
      case 'released':
        return;
    }
  }

  #failed(host: HostCell, requestId: number, code: ErrorCode, message: string): void {
    const { report } = new EngineError(code, message);
    this.#world.later(() => this.#feed(host, { tag: 'effect-failed', requestId, report }), host);
  }

  #read(host: HostCell, effect: HostEffect & { tag: 'read' }): void {
    const world = this.#world;
    const { request, operator, partition } = effect;
    const answer = (): void => {
      if (world.dice.strikes('readLost')) {
        const { report } = new EngineError('SOURCE_FAILED', `cannot read partition ${partition}`);
        this.#feed(host, { tag: 'read', operator, partition, result: { tag: 'failed', report } });
        return;
      }
      const result =
        request.tag === 'log' ? this.#readLog(host, request) : this.#readObject(request);
      this.#feed(host, { tag: 'read', operator, partition, result });
    };
    const quiet =
      request.tag === 'log' &&
      request.offset >=
        must(world.options.logs, 'logs').log(request.table, request.partition).status.endOffset;
    world.later(answer, host, quiet ? world.prng.below(request.waitMs) : 0);
  }

  #readLog(host: HostCell, request: ReadRequest & { tag: 'log' }): ReadResult {
    const logs = must(this.#world.options.logs, 'logs');
    const { trimmedOffset } = logs.log(request.table, request.partition).status;
    if (host.generation === this.#port.currentGeneration())
      assert(
        request.offset >= trimmedOffset,
        `row ${request.offset} is read, trimmed below ${trimmedOffset}`,
      );
    return logs.read({
      ...request,
      bytesMax: this.#world.options.readBytesMax ?? request.bytesMax,
    });
  }

  #readObject(request: ReadRequest): ReadResult {
    if (request.tag !== 'object') throw new Error('a read of an object');
    const { files, readBytesMax } = this.#world.options;
    const text = files[request.path];
    if (text === undefined) return { tag: 'missing', path: request.path };
    const bytes = new TextEncoder().encode(text);
    const end = request.offset + Math.min(request.length, readBytesMax ?? request.length);
    return { tag: 'object', bytes: bytes.slice(request.offset, end), size: bytes.byteLength };
  }

  #getFile(host: HostCell, { requestId, key }: HostEffect & { tag: 'get-file' }): void {
    const world = this.#world;
    if (world.dice.strikes('fileLost'))
      return this.#failed(host, requestId, 'STORE_FAILED', `cannot read ${key}`);
    world.later(
      () => {
        const found = world.bucket.store.objects.get(key);
        if (found === undefined)
          return this.#failed(host, requestId, 'LINEAGE_BROKEN', `${key} is missing`);
        this.#feed(host, { tag: 'file-read', requestId, bytes: found.body.slice() });
      },
      host,
      world.dice.lateMs('fileSlow', LATE_MAX_MS),
    );
  }

  #putFile(host: HostCell, { requestId, key, bytes }: HostEffect & { tag: 'put-file' }): void {
    const world = this.#world;
    if (world.dice.strikes('fileLost'))
      return this.#failed(host, requestId, 'STORE_FAILED', `cannot write ${key}`);
    world.later(
      () => {
        world.bucket.store.answer({ op: 'put', key, body: bytes, condition: { tag: 'absent' } });
        world.later(() => this.#feed(host, { tag: 'file-put', requestId }), host);
      },
      null,
      world.dice.lateMs('fileSlow', LATE_MAX_MS),
    );
  }

  #stage(host: HostCell, { requestId, request }: HostEffect & { tag: 'stage' }): void {
    const world = this.#world;
    if (world.dice.strikes('stageLost'))
      return this.#failed(host, requestId, 'STORE_FAILED', `cannot stage ${request.key}`);
    world.later(
      () => {
        const staged = world.bucket.stage(request);
        world.later(() => this.#feed(host, { tag: 'staged', requestId, staged }), host);
      },
      null,
      world.dice.lateMs('stageSlow', LATE_MAX_MS),
    );
  }

  /** Answers come after any time, so those of later calls overtake others. */
  #call(host: HostCell, { requestId, request }: HostEffect & { tag: 'call-function' }): void {
    const world = this.#world;
    if (world.dice.strikes('callLost'))
      return this.#failed(
        host,
        requestId,
        'FUNCTION_FAILED',
        `${request.fn.name}() does not answer`,
      );
    world.later(
      () => this.#feed(host, { tag: 'called', requestId, reply: answerAtOnce(request) }),
      host,
      world.dice.lateMs('callSlow', LATE_MAX_MS),
    );
  }

  #commit(host: HostCell, effect: HostEffect & { tag: 'commit' }): void {
    const world = this.#world;
    const { requestId, epoch, sink, items } = effect;
    const path = String(effect.connector.options['path']);
    const commit = (part = items): void => {
      for (const key of world.bucket.commit(sink, path, epoch, part)) world.say(`committed ${key}`);
    };
    if (world.dice.strikes('commitLost')) {
      // An uploading sink may have done a part of it, one that appends all or nothing.
      const uploads = items.every(
        ({ payload }) => (payload as { uploadId: string | null }).uploadId !== null,
      );
      const done = uploads ? items.slice(0, world.prng.below(items.length + 1)) : [];
      world.later(() => commit(done), null);
      return this.#failed(host, requestId, 'SINK_FAILED', `cannot commit epoch ${epoch}`);
    }
    if (world.dice.strikes('commitRepeated')) world.later(commit, null, world.prng.below(30_000));
    world.later(
      () => {
        commit();
        world.later(() => this.#feed(host, { tag: 'committed', requestId }), host);
      },
      null,
      world.dice.lateMs('commitSlow', LATE_MAX_MS),
    );
  }

  #report(host: HostCell, report: HostReport): void {
    if (report.tag === 'failed') {
      this.#world.say(`host ${host.index} of ${host.generation} failed: ${report.report.message}`);
      if (report.report.code === 'INTERNAL')
        throw new Error(`a bug in a host: ${report.report.message} ${report.report.detail}`);
    }
    // Deployed once more it begins elsewhere.
    if (report.tag === 'deployed' && host.machine.phase === 'ready') host.watermarks.clear();
    if (report.tag === 'heartbeat') this.#watch(host, report);
    host.reports.push(report);
    this.#sendReports(host);
  }

  /** The watermark of an operator never goes back within one life of a host. */
  #watch(host: HostCell, { metrics }: HostReport & { tag: 'heartbeat' }): void {
    for (const { operator, watermark } of metrics) {
      const before = host.watermarks.get(operator) ?? -Infinity;
      const now = watermark === 'end' ? Infinity : watermark;
      if (now === null) continue;
      if (now < before)
        throw new Error(`the watermark of ${operator} went back from ${before} to ${now}`);
      host.watermarks.set(operator, now);
    }
  }

  #sendReports(host: HostCell): void {
    if (host.reporting || host.reports.length === 0) return;
    host.reporting = true;
    this.#world.later(() => this.#sendReport(host, host.reports[0] as HostReport), host);
  }

  #sendReport(host: HostCell, report: HostReport): void {
    const { dice } = this.#world;
    const again = (): void => {
      host.reporting = false;
      this.#sendReports(host);
    };
    const retry = (): void => this.#world.later(again, host, REPORT_PAUSE_MS);
    const { identity } = host.machine;
    if (identity === null || dice.strikes('reportLost')) return retry();
    const reached = this.#world.network.reaches(
      leaderNode(host.generation),
      hostNode(host.generation, host.index),
    );
    if (!reached) return retry();
    const { pipelineId, generation, index, leader } = identity;
    const envelope = {
      pipelineId,
      generation,
      leader,
      index,
      host: host.incarnation,
      sequence: host.sequence,
      report,
    };
    if (dice.strikes('reportLate'))
      this.#world.later(
        () => this.#port.report(envelope),
        null,
        this.#world.prng.below(LATE_MAX_MS),
      );
    const answer = this.#port.report(envelope);
    if (answer === null || dice.strikes('reportRepeated')) return retry();
    host.sequence++;
    host.reports.shift();
    this.#noteAnswer(host, answer);
    this.#world.later(again, host);
  }

  #noteAnswer(host: HostCell, answer: ReportAnswer): void {
    const { nowMs } = this.#world.clock;
    if (answer.tag === 'accepted') {
      host.disownedSinceMs = null;
      return;
    }
    host.disownedSinceMs ??= nowMs;
    if (nowMs - host.disownedSinceMs > DISOWNED_MS) this.#feed(host, { tag: 'abandoned' });
  }

  #deliver(from: HostCell, effect: HostEffect & { tag: 'deliver' }, attempt = 1): void {
    const world = this.#world;
    const { edge, to, sequence, frames } = effect;
    const refuse = (reason: string): void =>
      world.later(
        () => this.#feed(from, { tag: 'delivered', edge, to, answer: { tag: 'refused', reason } }),
        from,
      );
    const lost = world.dice.strikes('deliveryLost');
    const reached = world.network.reaches(
      hostNode(from.generation, from.index),
      hostNode(from.generation, to),
    );
    // The shell calls again on a new session; what was taken in the first time is only answered then.
    const again = (reason: string): void => {
      if (attempt === DELIVERY_ATTEMPTS_MAX) refuse(reason);
      else world.later(() => this.#deliver(from, effect, attempt + 1), from);
    };
    if (!reached || (lost && world.prng.chance(0.5))) return again('lost on its way');
    const target = this.#object(from.generation, to);
    const requestId = world.unique();
    if (lost) again('its answer was lost');
    else this.#waiting.set(`${target.incarnation}/${requestId}`, { from, edge, to });
    this.#feed(target, {
      tag: 'delivery',
      requestId,
      delivery: {
        pipelineId: 'pl',
        generation: from.generation,
        edge,
        from: from.index,
        to,
        fromHost: from.incarnation,
        sequence,
        frames,
      },
    });
  }

  #answerDelivery(host: HostCell, requestId: number, refused: string | null): void {
    const waiting = this.#waiting.get(`${host.incarnation}/${requestId}`);
    if (waiting === undefined) return;
    this.#waiting.delete(`${host.incarnation}/${requestId}`);
    const { from, edge, to } = waiting;
    const answer =
      refused === null
        ? ({ tag: 'accepted' } as const)
        : ({ tag: 'refused', reason: refused } as const);
    this.#world.later(() => this.#feed(from, { tag: 'delivered', edge, to, answer }), from);
  }

  /** The object is reset: calls that it held open break. */
  crash(cell: HostCell): void {
    this.#world.say(`host ${cell.index} of ${cell.generation} crashes`);
    cell.alive = false;
    this.create(cell.generation, cell.index);
    this.#world.later(() => this.#port.hostLost(cell), null);
    for (const [key, { from, edge, to }] of this.#waiting) {
      if (!key.startsWith(`${cell.incarnation}/`)) continue;
      this.#waiting.delete(key);
      const { message } = reportOf(new Error('the object was reset'));
      this.#world.later(
        () =>
          this.#feed(from, {
            tag: 'delivered',
            edge,
            to,
            answer: { tag: 'refused', reason: message },
          }),
        from,
      );
    }
  }
}
