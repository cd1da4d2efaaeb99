/**
 * Shell of one host: feeds the step machine, carries out its effects in order, and keeps its loop
 * turning. It decides nothing about rows, barriers or state.
 *
 * A reset object has a new incarnation and an empty machine, which answers every command with
 * `unknown-incarnation`: the leader then gives the generation up.
 */
import { DurableObject, RpcTarget } from 'cloudflare:workers';
import { reportOf } from '../src/base/errors.ts';
import { hostName, leaderName, logName } from '../src/base/ids.ts';
import { LIMITS } from '../src/base/limits.ts';
import type { ReadRequest, ReadResult } from '../src/connectors/connector.ts';
import { CrashTrigger } from '../src/platform/crash-trigger.ts';
import {
  type CrashPoint,
  type Env,
  type HostCalls,
  type HostSession,
  isLocal,
  leaders,
  logs,
  type PreviewPage,
} from '../src/platform/env.ts';
import { WORKERS_OF_OBJECT, functionCaller } from '../src/platform/functions/functions.ts';
import { getStateFile, putStateFile, readObject } from '../src/platform/objects.ts';
import { HostSessions } from '../src/platform/host-sessions.ts';
import { PreviewTail } from '../src/platform/preview-tail.ts';
import { withRetry } from '../src/platform/retry.ts';
import { STAGE_TIMEOUT_MS, TwoPhaseSinks } from '../src/platform/sinks/two-phase-sinks.ts';
import type {
  CommandAnswer,
  CommandEnvelope,
  Delivery,
  DeliveryAnswer,
  HostReport,
  ReportAnswer,
} from '../src/protocol/messages.ts';
import type { HostEffect, HostEvent } from '../src/subtask/host-events.ts';
import { HostMachine } from '../src/subtask/host-machine.ts';

/** A report that cannot be delivered for so long ends the host: its leader is gone for good. */
const REPORT_GIVE_UP_MS = 15 * 60_000;
const REPORT_PAUSE_MS = 250;
/** Reports answered `stale` for so long mean that nobody leads this host any more. */
const DISOWNED_MS = 60_000;

/** Effects that one event answers. */
type AskingEffect = Extract<
  HostEffect,
  { tag: 'get-file' | 'put-file' | 'stage' | 'pre-commit' | 'commit' | 'call-function' }
>;

export class SubtaskHost extends DurableObject<Env> implements HostCalls {
  readonly #incarnation = crypto.randomUUID();
  readonly #machine = new HostMachine(this.#incarnation);
  readonly #answers = new Map<number, (answer: CommandAnswer) => void>();
  readonly #deliveries = new Map<number, (answer: DeliveryAnswer) => void>();
  readonly #tails = new Map<string, PreviewTail>();
  readonly #sessions = new HostSessions(this.env);
  readonly #functions = functionCaller(this.env, this.ctx, WORKERS_OF_OBJECT);
  readonly #reports: HostReport[] = [];
  readonly #crashPoint = new CrashTrigger(this.ctx);
  #reporting = false;
  #sequence = 0;
  #disownedSinceMs: number | null = null;
  #nextRequest = 1;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #timerAtMs = Infinity;
  #released = false;

  async command(envelope: CommandEnvelope): Promise<CommandAnswer> {
    const requestId = this.#nextRequest++;
    return await new Promise((resolve) => {
      this.#answers.set(requestId, resolve);
      this.#feed({ tag: 'command', envelope, requestId });
    });
  }

  openSession(): Promise<HostSession> {
    return Promise.resolve(
      new IncomingSession(
        (delivery) =>
          new Promise((resolve) => {
            const requestId = this.#nextRequest++;
            this.#deliveries.set(requestId, resolve);
            this.#feed({ tag: 'delivery', delivery, requestId });
          }),
      ),
    );
  }

  async watch(waitMs: number): Promise<{ incarnation: string; phase: string }> {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    return { incarnation: this.#incarnation, phase: this.#machine.phase };
  }

  async tail(operator: string, after: number, waitMs: number): Promise<PreviewPage> {
    return await this.#tail(operator).read(after, waitMs);
  }

  async crash(at: CrashPoint): Promise<void> {
    if (isLocal(this.env)) this.#crashPoint.arm(at);
  }

  #tail(operator: string): PreviewTail {
    let tail = this.#tails.get(operator);
    if (tail === undefined) {
      tail = new PreviewTail(LIMITS.previewRowsKept);
      this.#tails.set(operator, tail);
    }
    return tail;
  }

  #feed(event: HostEvent): void {
    const startedMs = Date.now();
    const step = this.#machine.handle(event, startedMs);
    const tookMs = Date.now() - startedMs;
    for (const effect of step.effects) this.#perform(effect);
    if (step.cut) this.#feed({ tag: 'cut-took', ms: tookMs });
    if (this.#released) return;
    if (step.busy) this.#schedule(0);
    else if (step.wakeAtMs !== null) this.#schedule(step.wakeAtMs);
  }

  /** Runs the machine at `atMs`, or as soon as other events have had their turn. */
  #schedule(atMs: number): void {
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
    this.#crashPoint.reach(effect.tag === 'report' ? `report:${effect.report.tag}` : effect.tag);
    switch (effect.tag) {
      case 'answer':
        this.#answers.get(effect.requestId)?.(effect.answer);
        this.#answers.delete(effect.requestId);
        return;
      case 'answer-delivery':
        this.#deliveries.get(effect.requestId)?.(effect.answer);
        this.#deliveries.delete(effect.requestId);
        return;
      case 'report':
        this.#reports.push(effect.report);
        void this.#sendReports();
        return;
      case 'deliver':
        void this.#deliver(effect);
        return;
      case 'read':
        void this.#read(effect.operator, effect.partition, effect.request);
        return;
      case 'get-file':
      case 'put-file':
      case 'stage':
      case 'pre-commit':
      case 'commit':
      case 'call-function':
        this.#answerWith(effect.requestId, this.#ask(effect));
        return;
      case 'preview':
        this.#tail(effect.operator).push(effect.rows, effect.count);
        return;
      case 'trim':
        void withRetry(() => this.#log(effect.table, effect.partition).trim(effect.offset)).catch(
          () => undefined,
        );
        return;
      case 'released':
        this.#release();
        return;
    }
  }

  /** What is asked of the bucket, of sinks and of functions; they retry on their own. */
  async #ask(effect: AskingEffect): Promise<HostEvent> {
    const { requestId } = effect;
    const { BUCKET } = this.env;
    switch (effect.tag) {
      case 'get-file':
        return { tag: 'file-read', requestId, bytes: await getStateFile(BUCKET, effect.key) };
      case 'put-file':
        await putStateFile(BUCKET, effect.key, effect.bytes);
        return { tag: 'file-put', requestId };
      case 'stage': {
        const staged = await this.#sinks(STAGE_TIMEOUT_MS).stage(effect.request);
        return { tag: 'staged', requestId, staged };
      }
      case 'pre-commit':
        await this.#sinks(effect.timeoutMs).preCommit(effect.token, effect.items);
        return { tag: 'pre-committed', requestId };
      case 'commit':
        await this.#sinks(effect.timeoutMs).commit(effect.token, effect.items);
        return { tag: 'committed', requestId };
      case 'call-function': {
        const reply = await this.#functions.call(effect.request);
        return { tag: 'called', requestId, reply };
      }
    }
  }

  #sinks(timeoutMs: number): TwoPhaseSinks {
    return new TwoPhaseSinks(this.env.BUCKET, timeoutMs);
  }

  #identity(): {
    pipelineId: string;
    generation: number;
    leader: string;
    index: number;
    incarnation: string;
  } {
    const identity = this.#machine.identity;
    if (identity === null) throw new Error('host is not deployed');
    return identity;
  }

  #log(table: string, partition: number): ReturnType<ReturnType<typeof logs>['getByName']> {
    return logs(this.env).getByName(logName(this.#identity().pipelineId, table, partition));
  }

  /** Feeds the outcome of an effect back; a failure is final, the calls retry on their own. */
  #answerWith(requestId: number, asked: Promise<HostEvent>): void {
    asked.then(
      (answer) => {
        this.#crashPoint.reach(`${answer.tag}:after`);
        this.#feed(answer);
      },
      (thrown: unknown) =>
        this.#feed({ tag: 'effect-failed', requestId, report: reportOf(thrown) }),
    );
  }

  async #deliver(effect: HostEffect & { tag: 'deliver' }): Promise<void> {
    const { pipelineId, generation, index } = this.#identity();
    const { edge, to, sequence, frames } = effect;
    const name = hostName(pipelineId, generation, to);
    const delivery: Delivery = {
      pipelineId,
      generation,
      edge,
      from: index,
      to,
      fromHost: this.#incarnation,
      sequence,
      frames,
    };
    let answer: DeliveryAnswer;
    try {
      answer = await withRetry(() => this.#sessions.call(name, (host) => host.deliver(delivery)));
    } catch (thrown) {
      answer = { tag: 'refused', reason: reportOf(thrown).message };
    }
    this.#feed({ tag: 'delivered', edge, to, answer });
  }

  async #read(operator: string, partition: number, request: ReadRequest): Promise<void> {
    let result: ReadResult;
    try {
      result = await withRetry(() => this.#readOnce(request));
    } catch (thrown) {
      result = { tag: 'failed', report: reportOf(thrown) };
    }
    this.#feed({ tag: 'read', operator, partition, result });
  }

  async #readOnce(request: ReadRequest): Promise<ReadResult> {
    if (request.tag === 'log') {
      return await this.#log(request.table, request.partition).read(
        request.offset,
        request.bytesMax,
        request.waitMs,
      );
    }
    return await readObject(this.env, request.path, request.offset, request.length);
  }

  /** Sends reports one after the other, repeating each until the leader has taken it. */
  async #sendReports(): Promise<void> {
    if (this.#reporting) return;
    this.#reporting = true;
    let failingSinceMs: number | null = null;
    while (this.#reports.length > 0) {
      const report = this.#reports[0] as HostReport;
      const { pipelineId, generation, leader, index } = this.#identity();
      try {
        const stub = leaders(this.env).getByName(leaderName(pipelineId, generation));
        const answer = await stub.report({
          pipelineId,
          generation,
          leader,
          index,
          host: this.#incarnation,
          sequence: this.#sequence,
          report,
        });
        this.#sequence++;
        this.#reports.shift();
        failingSinceMs = null;
        this.#noteAnswer(answer);
      } catch {
        failingSinceMs ??= Date.now();
        if (Date.now() - failingSinceMs > REPORT_GIVE_UP_MS) {
          this.#reports.length = 0;
          this.#feed({ tag: 'abandoned' });
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, REPORT_PAUSE_MS));
      }
    }
    this.#reporting = false;
  }

  /** A resumed leader adopts its hosts within moments: one that goes on disowning this host has another life. */
  #noteAnswer(answer: ReportAnswer): void {
    if (answer.tag === 'accepted') {
      this.#disownedSinceMs = null;
      return;
    }
    this.#disownedSinceMs ??= Date.now();
    if (Date.now() - this.#disownedSinceMs > DISOWNED_MS) this.#feed({ tag: 'abandoned' });
  }

  #release(): void {
    this.#released = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const resolve of this.#deliveries.values()) resolve({ tag: 'refused', reason: 'stopped' });
    this.#deliveries.clear();
    this.#sessions.close();
  }
}

/** The other end of a session; it has no more than this one call. */
class IncomingSession extends RpcTarget implements HostSession {
  readonly #deliver: (delivery: Delivery) => Promise<DeliveryAnswer>;

  constructor(deliver: (delivery: Delivery) => Promise<DeliveryAnswer>) {
    super();
    this.#deliver = deliver;
  }

  deliver(delivery: Delivery): Promise<DeliveryAnswer> {
    return this.#deliver(delivery);
  }
}
