/**
 * One step in the making: the state so far and the effects in order, with the few verbs that every part uses.
 *
 * Invariants: whatever ends a generation is persisted before anybody hears of it; after the end no effect follows.
 * Failure: none.
 */
import { must } from '../base/assert.ts';
import { ERROR_CODES } from '../base/errors.ts';
import type { ErrorCode, ErrorReport } from '../base/errors.ts';
import type {
  GenerationSpec,
  HostCommand,
  JobError,
  Outcome,
  ReportAnswer,
} from '../protocol/messages.ts';
import type { LeaderEffect, LineageOperation } from './interface.ts';
import { persistedOf } from './state.ts';
import type { HostState, LeaderState } from './state.ts';

/** `state` is this step's own copy: its members may be replaced, but not what they hold. `reply` follows all effects. */
export type Step = {
  state: LeaderState;
  effects: LeaderEffect[];
  reply: ReportAnswer | null;
  nowMs: number;
};

export function specOf(step: Step): GenerationSpec {
  return must(step.state.spec, 'spec of a started leader');
}

export function persist(step: Step, spec: GenerationSpec | null = null): void {
  step.effects.push({ tag: 'persist', spec, persisted: persistedOf(step.state) });
}

export function updateHost(step: Step, index: number, change: Partial<HostState>): void {
  const host = must(step.state.hosts[index], 'host');
  step.state.hosts = step.state.hosts.with(index, { ...host, ...change });
}

/** Sends to the host's known incarnation; `deploy` goes to whoever bears the name. */
export function send(step: Step, index: number, command: HostCommand): void {
  const spec = specOf(step);
  const host = must(step.state.hosts[index], 'host');
  const sequence = host.commandSequence + 1;
  updateHost(step, index, { commandSequence: sequence });
  if (command.tag === 'deploy' || command.tag === 'adopt')
    updateHost(step, index, { ledSince: sequence });
  const { nonce, startNo } = must(step.state.incarnation, 'incarnation');
  const envelope = {
    pipelineId: spec.pipelineId,
    generation: spec.generation,
    leader: nonce,
    leaderStart: startNo,
    host: command.tag === 'deploy' ? null : must(host.incarnation, 'incarnation of a host'),
    sequence,
    command,
  };
  step.effects.push({ tag: 'send', index, envelope });
}

/** To every host whose incarnation is known and that has not stopped. */
export function sendToKnown(step: Step, command: HostCommand): void {
  for (const [index, host] of step.state.hosts.entries()) {
    if (host.incarnation !== null && !host.stopped) send(step, index, command);
  }
}

/** Tells every host that the data checkpoint (epoch, attempt) is committed; their answers are waited for before the next. */
export function sendSettled(step: Step, epoch: number, attempt: number): void {
  sendToKnown(step, { tag: 'settled', epoch, attempt });
  for (const [index, host] of step.state.hosts.entries())
    updateHost(step, index, { settling: host.commandSequence });
}

/** Begins a workflow that the leader waits for; `deadlineMs` is a time. */
export function startOperation(step: Step, operation: LineageOperation, deadlineMs: number): void {
  const id = ++step.state.lastOperationId;
  step.state.activity = { tag: 'storing', id, operation, deadlineMs, retryAtMs: null };
  step.effects.push({ tag: 'lineage', id, operation });
}

/** Ends the generation now. */
export function end(step: Step, outcome: Outcome): void {
  const { state } = step;
  if (state.phase === 'ended') return;
  state.phase = 'ended';
  state.outcome = outcome;
  state.activity = { tag: 'none' };
  state.collecting = null;
  state.checkpoint = null;
  persist(step);
  sendToKnown(step, { tag: 'stop', mode: 'immediate' });
  step.effects.push({ tag: 'nudge' }, { tag: 'ended' });
}

export function fail(step: Step, report: ErrorReport): void {
  end(step, { tag: 'failed', report });
}

export function failWith(step: Step, code: ErrorCode, message: string, hint?: string): void {
  fail(step, { code, ...ERROR_CODES[code], message, ...(hint === undefined ? {} : { hint }) });
}

/** What a status tells of errors: it is asked for every second, so they are few and without their rows. */
const ERRORS_TOLD = 100;

/** Remembers what went wrong, the newest of it. */
export function noteErrors(step: Step, errors: readonly JobError[]): void {
  if (errors.length > 0) step.state.errors = [...step.state.errors, ...errors].slice(-ERRORS_TOLD);
}

/** The same of rows, which are kept aside. */
export function noteProblems(step: Step, problems: readonly JobError[]): void {
  if (problems.length === 0) return;
  noteErrors(
    step,
    problems.map(({ row: _row, ...error }) => error),
  );
  step.effects.push({ tag: 'keep-problems', problems });
}
