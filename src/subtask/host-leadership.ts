/**
 * Whom a host obeys. Invariant: INV-30, its part of leaders: a command of another leader than the last that deployed or
 * adopted the host has no effect, nor has one that was sent before that and comes later.
 */
import type { CommandEnvelope } from '../protocol/messages.ts';

export class HostLeadership {
  #leader = '';
  /** Of the last `deploy` or `adopt`. */
  #start = 0;
  #sequence = 0;

  /** Nonce of the leader; empty before the first. */
  get leader(): string {
    return this.#leader;
  }

  get sequence(): number {
    return this.#sequence;
  }

  /** Whether the command is to be obeyed; with `deploy` and `adopt` its sender leads from now on. */
  follows(envelope: CommandEnvelope): boolean {
    if (this.#isOutdated(envelope)) return false;
    const { tag } = envelope.command;
    if (tag !== 'deploy' && tag !== 'adopt') return envelope.leader === this.#leader;
    this.#leader = envelope.leader;
    this.#start = envelope.leaderStart;
    this.#sequence = envelope.sequence;
    return true;
  }

  /** A late `deploy` would take the rows back that were read since; a late `begin` would begin too early. */
  #isOutdated({ leaderStart, sequence }: CommandEnvelope): boolean {
    return leaderStart < this.#start || (leaderStart === this.#start && sequence < this.#sequence);
  }
}
