/**
 * The body of a node that asks functions of the user's own: the only one whose rows leave later than they come.
 *
 * Place in the walk: stage 6. Batches and watermarks wait in one queue in the order they came; what is at its head
 * leaves as soon as all its answers are there. So answers may come in any order and rows keep theirs.
 * Invariants: INV-48 (with stage-runtime); at most `CALLS_MAX` requests are under way; while the queue is `full` the stage does no work; a stage
 * is cut only while nothing is `pending` (stage-runtime.ts), so there is no state.
 */
import { must } from '../base/assert.ts';
import type { RecordBatch } from '../batch/record-batch.ts';
import type { Output, Watermark } from '../operators/operator.ts';
import type {
  Asking,
  FunctionReply,
  FunctionRequest,
  UserFunctions,
} from '../operators/user-functions.ts';
import type { Node, NodeBody } from './node.ts';

/** Requests of one operator under way at once. */
const CALLS_MAX = 4;

export type CallPort = {
  /** Answered by `answered` with the same ticket. */
  call(body: CallingBody, ticket: number, request: FunctionRequest): void;
};

type Waiting = {
  tag: 'batch';
  asking: Asking;
  replies: (FunctionReply | null)[];
  /** Requests without an answer. */
  open: number;
};

type Entry = Waiting | { tag: 'watermark'; port: number; value: number | 'idle' };

export class CallingBody implements NodeBody {
  readonly operator: string;
  readonly #functions: UserFunctions;
  readonly #port: CallPort;
  readonly #queue: Entry[] = [];
  /** Requests that have not been made yet, in order. */
  readonly #requests: { entry: Waiting; at: number; request: FunctionRequest }[] = [];
  readonly #underWay = new Map<number, { entry: Waiting; at: number }>();
  #node: Node | null = null;
  #nextTicket = 1;
  #draining = false;

  constructor(operator: string, functions: UserFunctions, port: CallPort) {
    this.operator = operator;
    this.#functions = functions;
    this.#port = port;
  }

  attach(node: Node): void {
    this.#node = node;
  }

  get pending(): boolean {
    return this.#queue.length > 0;
  }

  get full(): boolean {
    return this.#underWay.size >= CALLS_MAX || this.#requests.length > 0;
  }

  onBatch(_port: number, batch: RecordBatch, _output: Output): void {
    const asking = this.#functions.ask(batch);
    const entry: Waiting = { tag: 'batch', asking, replies: asking.asked.map(() => null), open: 0 };
    asking.asked.forEach(({ request }, at) => {
      if (request === null) return;
      entry.open++;
      this.#requests.push({ entry, at, request });
    });
    this.#queue.push(entry);
    this.#request();
    this.#drain();
  }

  /** True: the watermark waits behind rows that came before it, and is told to the node again when they have left. */
  holds(port: number, value: number | 'idle'): boolean {
    if (!this.pending || this.#draining) return false;
    this.#queue.push({ tag: 'watermark', port, value });
    return true;
  }

  answered(ticket: number, reply: FunctionReply): void {
    const { entry, at } = must(this.#underWay.get(ticket), 'call under way');
    this.#underWay.delete(ticket);
    entry.replies[at] = reply;
    entry.open--;
    this.#request();
    this.#drain();
  }

  onWatermark(_watermark: Watermark, _output: Output): void {}

  onTick(_nowMs: number, _output: Output): void {}

  #request(): void {
    while (this.#underWay.size < CALLS_MAX) {
      const next = this.#requests.shift();
      if (next === undefined) return;
      const ticket = this.#nextTicket++;
      this.#underWay.set(ticket, next);
      this.#port.call(this, ticket, next.request);
    }
  }

  #drain(): void {
    const node = must(this.#node, 'node of the body');
    for (let head = this.#queue[0]; head !== undefined; head = this.#queue[0]) {
      if (head.tag === 'batch' && head.open > 0) return;
      this.#queue.shift();
      this.#draining = true;
      if (head.tag === 'batch') this.#functions.finish(head.asking, head.replies, node);
      else node.receiveWatermark(head.port, head.value);
      this.#draining = false;
    }
  }
}
