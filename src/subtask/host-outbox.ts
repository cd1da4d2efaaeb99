/**
 * What a step of the host asks its shell to do, in order, and which of what was asked for is not answered yet.
 *
 * Invariant: an answer is taken once; one to a request that was given up has no effect.
 */
import type { HostReport } from '../protocol/messages.ts';
import type { CallingBody } from './calling-body.ts';
import type { HostEffect } from './host-events.ts';
import type { SinkNode } from './sink-node.ts';

/** What an answered request was for. */
export type Pending =
  | { tag: 'restore' }
  | { tag: 'upload' }
  | { tag: 'stage'; sink: SinkNode; index: number }
  | { tag: 'pre-commit' }
  | { tag: 'commit'; epoch: number; sink: string }
  | { tag: 'call'; body: CallingBody; ticket: number };

export class HostOutbox {
  #effects: HostEffect[] = [];
  readonly #pending = new Map<number, Pending>();
  #nextRequest = 1;

  /** Those of the step before are the shell's. */
  beginStep(): void {
    this.#effects = [];
  }

  get effects(): HostEffect[] {
    return this.#effects;
  }

  push(effect: HostEffect): void {
    this.#effects.push(effect);
  }

  report(report: HostReport): void {
    this.#effects.push({ tag: 'report', report });
  }

  /** The id of a request that is about to be made. */
  request(pending: Pending): number {
    const requestId = this.#nextRequest++;
    this.#pending.set(requestId, pending);
    return requestId;
  }

  /** What the request was for; undefined when nobody waits for it. */
  answered(requestId: number): Pending | undefined {
    const pending = this.#pending.get(requestId);
    this.#pending.delete(requestId);
    return pending;
  }

  /** Nobody waits for any answer any more. */
  giveUp(): void {
    this.#pending.clear();
  }
}
