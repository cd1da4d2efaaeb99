/**
 * From ownership to running: open, deploy, redo, fence, begin.
 *
 * Place in the walk: stages 4 and 10. Each function takes one step towards `begin` and is called by `advance` when its
 * precondition holds and nothing is under way, so that a first start and a start after a reset are the same code: what
 * a resumed leader finds done is not done again.
 *
 * Invariants: INV-50; hosts begin only from the tip as of owning: while they have not begun they are deployed again when
 * the tip changed under them, afterwards only a tip of their own generation can. A fence has its parent's content unless
 * it resets. Failure: START_TIMEOUT; a store that does not answer: STORE_FAILED; both cost a generation.
 */
import { must } from '../base/assert.ts';
import type { ConnectorSpec, PhysicalGraph } from '../graph/graph.ts';
import type { FenceOutcome } from '../lineage/fence.ts';
import type { OpenOutcome } from '../lineage/open.ts';
import type { PlannedOperator, Tip } from '../lineage/types.ts';
import type { GenerationSpec } from '../protocol/messages.ts';
import {
  end,
  fail,
  failWith,
  persist,
  send,
  sendSettled,
  sendToKnown,
  specOf,
  startOperation,
  updateHost,
} from './step.ts';
import type { Step } from './step.ts';

/** Whether the generation has still to forget the state that `tip` holds. */
export function resetDue(spec: GenerationSpec, tip: Tip): boolean {
  return (
    spec.reset &&
    tip.manifest !== null &&
    tip.manifest.generation < (spec.resetFrom ?? spec.generation)
  );
}

/** What hosts that restored from `tip` hold. */
export function contentOf(tip: Tip): string {
  return tip.ref === null ? 'new' : tip.ref.ref;
}

export function open(step: Step): void {
  step.state.phase = 'opening';
  startOperation(step, { tag: 'open' }, step.nowMs + specOf(step).settings.startTimeoutMs);
}

export function onOpened(step: Step, outcome: OpenOutcome): void {
  if (outcome.tag === 'fenced') return end(step, { tag: 'fenced' });
  if (outcome.tag !== 'opened') return fail(step, outcome.report);
  const stranger = strangerOf(specOf(step), outcome.tip);
  if (stranger !== null) {
    return failWith(
      step,
      'LINEAGE_BROKEN',
      `epoch ${outcome.tip.epoch} holds state of operator ${stranger}, which the plan does not have`,
      'nothing was changed; restart the pipeline without state, or create a new one for the new query',
    );
  }
  setTip(step, outcome.tip);
}

/** An operator whose state nobody would take over, null for none: it would be forgotten without a word. */
function strangerOf(spec: GenerationSpec, tip: Tip): string | null {
  if (resetDue(spec, tip)) return null;
  const known = new Set(spec.graph.operators.map((operator) => operator.id));
  return tip.manifest?.files.find((file) => !known.has(file.operator))?.operator ?? null;
}

/** Makes `tip` the tip and its epoch the one people see. */
export function setTip(step: Step, tip: Tip): void {
  const { state } = step;
  state.tip = tip;
  state.epoch = tip.epoch;
  if (tip.committed) state.committedEpoch = tip.epoch;
}

export function needsDeployment(step: Step): boolean {
  const { state } = step;
  return !state.begun && state.restoredFrom !== contentOf(must(state.tip, 'tip'));
}

/** Every host builds its subtasks from the tip; one that did so from an older tip begins afresh. */
export function deploy(step: Step): void {
  const { state } = step;
  const tip = must(state.tip, 'tip');
  const spec = specOf(step);
  state.phase = 'deploying';
  state.restoredFrom = contentOf(tip);
  state.activity = { tag: 'deploying', deadlineMs: step.nowMs + spec.settings.startTimeoutMs };
  for (const index of state.hosts.keys()) {
    updateHost(step, index, { ready: false, drained: false });
    send(step, index, { tag: 'deploy', spec, index, checkpoint: tip.manifest });
  }
}

/** Running hosts learn the nonce of the leader that takes over. */
export function adoptHosts(step: Step): void {
  step.state.adoptionDue = false;
  for (const [index, host] of step.state.hosts.entries())
    send(step, index, { tag: 'adopt', drained: host.drained });
}

/**
 * Begins again at the lineage: a leader that was replaced finds that it is fenced, the owner takes its hosts back.
 *
 * Not while a workflow is under way: an epoch that this start may have claimed with a checkpoint cannot be fenced by it too.
 */
export function reopen(step: Step): void {
  const { state } = step;
  Object.assign(state, {
    doubted: false,
    tip: null,
    fenced: false,
    announced: false,
    restoredFrom: null,
  });
  state.adoptionDue = state.begun;
  state.activity = { tag: 'none' };
  state.checkpoint = null;
  for (const index of state.hosts.keys()) updateHost(step, index, { ready: false, settling: null });
}

/** A resumed leader knows the tip, but not all hosts have answered yet. */
export function awaitHosts(step: Step): void {
  step.state.phase = 'deploying';
  step.state.activity = {
    tag: 'deploying',
    deadlineMs: step.nowMs + specOf(step).settings.startTimeoutMs,
  };
}

export function giveUpHosts(step: Step): void {
  const silent = [...step.state.hosts.entries()]
    .filter(([, host]) => !host.ready)
    .map(([index]) => index);
  failWith(step, 'START_TIMEOUT', `host ${silent.join(', ')} did not start in time`);
}

export function fence(step: Step): void {
  const { state } = step;
  const tip = must(state.tip, 'tip');
  const spec = specOf(step);
  state.phase = 'fencing';
  const { codeVersion, parallelism, reason } = spec;
  const operators = plannedOperators(spec.graph);
  const info = { planHash: spec.graph.planHash, codeVersion, parallelism, reason, operators };
  const operation = { tag: 'fence', tip, options: { reset: resetDue(spec, tip), info } } as const;
  startOperation(step, operation, step.nowMs + spec.settings.startTimeoutMs);
}

function pathOf({ options }: ConnectorSpec): string | null {
  const path = options['path'];
  return typeof path === 'string' ? path : null;
}

function plannedOperators({ operators, edges }: PhysicalGraph): PlannedOperator[] {
  return operators.map(({ id, spec }) => ({
    operator: id,
    kind: spec.tag === 'source' && spec.format.changes !== undefined ? 'change-source' : spec.tag,
    inputs: edges.filter((edge) => edge.to === id).map((edge) => edge.from),
    linePerRow: spec.tag === 'sink' && spec.twoPhase && !spec.updating,
    reads: spec.tag === 'source' ? pathOf(spec.connector) : null,
  }));
}

export function onFenced(step: Step, outcome: FenceOutcome, reset: boolean): void {
  if (outcome.tag === 'fenced') return end(step, { tag: 'fenced' });
  if (outcome.tag === 'broken' || outcome.tag === 'unavailable') return fail(step, outcome.report);
  setTip(step, outcome.tip);
  // After a reset hosts restore from the fence, and another fence follows: so whatever a host was deployed from, the
  // first checkpoint it takes part in is two epochs later.
  if (outcome.tag === 'adopted' || reset) return;
  step.state.fenced = true;
  step.state.restoredFrom = contentOf(outcome.tip);
}

/** Sources may read from here on. */
export function begin(step: Step): void {
  const { state } = step;
  const spec = specOf(step);
  state.phase = 'running';
  state.begun = true;
  state.announced = true;
  state.runningSinceMs ??= step.nowMs;
  state.settledMs = step.nowMs;
  persist(step);
  const data = state.tip?.manifest?.data ?? null;
  if (data !== null && data.generation === spec.generation) {
    sendSettled(step, data.epoch, data.attempt);
  }
  const hosts = state.hosts.map((host) =>
    must(host.incarnation, 'incarnation of a host that is ready'),
  );
  sendToKnown(step, { tag: 'begin', hosts });
  step.effects.push({ tag: 'nudge' });
}
