/**
 * What hosts say, and what their silence says.
 *
 * Place in the walk: stages 4 and 7. Invariants: INV-30 a report of another generation, leader start or host incarnation
 * changes nothing and is answered `stale`, which tells its sender to stop; every report counts once. A leader that was
 * itself away blames no host for the silence. Failure: a lost host fails the generation with HOST_LOST, except while
 * the hosts are being stopped.
 */
import { acceptReport } from '../checkpoint/coordinator.ts';
import type {
  CommandAnswer,
  HostReport,
  ReportAnswer,
  ReportEnvelope,
} from '../protocol/messages.ts';
import { acceptCommitted } from './commits.ts';
import { acceptSettled, publish } from './epochs.ts';
import { withSample } from './rates.ts';
import type { HostState, LeaderState } from './state.ts';
import { end, fail, failWith, noteErrors, noteProblems, updateHost } from './step.ts';
import type { Step } from './step.ts';

const STALE: ReportAnswer = { tag: 'stale' };
const ACCEPTED: ReportAnswer = { tag: 'accepted' };

export function onReport(step: Step, envelope: ReportEnvelope): ReportAnswer {
  const { state } = step;
  const { index, report } = envelope;
  const host = state.hosts[index];
  if (state.phase === 'ended' || host === undefined || !isForMe(state, envelope)) return STALE;
  if (envelope.host !== host.incarnation) {
    if (report.tag !== 'deployed') return STALE;
    if (state.begun) {
      loseHost(step, index, 'it was created again');
      return STALE;
    }
    if (state.activity.tag !== 'deploying') return STALE;
  }
  updateHost(step, index, { lastHeardMs: step.nowMs });
  takeReport(step, envelope, host);
  return ACCEPTED;
}

function isForMe(state: LeaderState, envelope: ReportEnvelope): boolean {
  return (
    envelope.pipelineId === state.spec?.pipelineId &&
    envelope.generation === state.spec.generation &&
    envelope.leader === state.incarnation?.nonce
  );
}

function takeReport(step: Step, envelope: ReportEnvelope, host: HostState): void {
  const { index, report, sequence } = envelope;
  switch (report.tag) {
    case 'deployed':
      // Of an earlier deployment: the host has yet to begin with the one that it was sent since.
      if (report.answers !== host.ledSince) return;
      if (sequence <= host.deployedSequence && envelope.host === host.incarnation) return;
      return takeDeployed(step, envelope, report.drained);
    case 'checkpointed':
      return takeCheckpointed(step, index, report);
    case 'committed':
      acceptCommitted(step, index, report.epoch, report.sinks);
      return;
    case 'drained':
      return updateHost(step, index, { drained: true });
    case 'stopped':
      return takeStopped(step, index);
    case 'failed':
      return takeFailed(step, index, report);
    case 'heartbeat':
      if (sequence <= host.heartbeatSequence) return;
      updateHost(step, index, {
        heartbeatSequence: sequence,
        metrics: report.metrics,
        metricsMs: step.nowMs,
        samples: withSample(host.samples, { atMs: step.nowMs, metrics: report.metrics }),
      });
      return noteProblems(step, report.problems);
  }
}

function takeDeployed(step: Step, envelope: ReportEnvelope, drained: boolean): void {
  const { index, host, sequence } = envelope;
  const watched = step.state.hosts[index]?.watched ?? null;
  updateHost(step, index, {
    incarnation: host,
    ready: true,
    drained,
    deployedSequence: sequence,
    watched: host,
  });
  if (watched !== host) step.effects.push({ tag: 'watch', index, host });
  const { activity, hosts } = step.state;
  if (activity.tag === 'deploying' && hosts.every((each) => each.ready))
    step.state.activity = { tag: 'none' };
}

function takeCheckpointed(
  step: Step,
  index: number,
  report: Extract<HostReport, { tag: 'checkpointed' }>,
): void {
  const { activity } = step.state;
  if (report.drained) updateHost(step, index, { drained: true });
  if (activity.tag !== 'collecting') return;
  const accepted = acceptReport(activity.collection, index, report, step.nowMs);
  if (accepted.tag === 'waiting')
    step.state.activity = { ...activity, collection: accepted.collection };
  if (accepted.tag === 'complete') publish(step, accepted.collection);
}

function takeStopped(step: Step, index: number): void {
  updateHost(step, index, { stopped: true });
  const { activity, hosts } = step.state;
  if (activity.tag !== 'stopping-hosts') return;
  if (hosts.every((host) => host.stopped)) end(step, activity.outcome);
}

function takeFailed(
  step: Step,
  index: number,
  { report, operator }: Extract<HostReport, { tag: 'failed' }>,
): void {
  const { code, domain, message, detail = '' } = report;
  noteErrors(step, [{ atMs: step.nowMs, operator, subtask: index, message, detail, code, domain }]);
  if (step.state.activity.tag === 'stopping-hosts') return takeStopped(step, index);
  fail(step, report);
}

export function onAnswer(step: Step, index: number, sequence: number, answer: CommandAnswer): void {
  if (step.state.phase === 'ended' || step.state.hosts[index] === undefined) return;
  if (answer.tag === 'accepted') {
    updateHost(step, index, { lastHeardMs: step.nowMs });
    return acceptSettled(step, index, sequence);
  }
  if (answer.tag === 'unknown-incarnation') return loseHost(step, index, 'it was created again');
  if (step.state.activity.tag === 'stopping-hosts') return takeStopped(step, index);
  // Another start of this leader has spoken to the host: a newer one, or an older one whose call came late.
  // While the lineage is being asked (no tip), the answers to what was sent before say nothing new.
  if (step.state.tip !== null && sequence >= (step.state.hosts[index]?.ledSince ?? 0))
    step.state.doubted = true;
}

export function loseHost(step: Step, index: number, reason: string): void {
  const { state } = step;
  const host = state.hosts[index];
  if (state.phase === 'ended' || host === undefined || host.commandSequence === 0) return;
  if (state.activity.tag === 'stopping-hosts') return takeStopped(step, index);
  failWith(step, 'HOST_LOST', `host ${index} was lost: ${reason}`);
}

/** Hosts that have started and were silent for too long. `lateMs`: by how much the leader's own alarm was late. */
export function checkSilence(step: Step, lateMs: number): void {
  const { state } = step;
  const timeoutMs = state.spec?.settings.heartbeatTimeoutMs ?? 0;
  for (const [index, host] of state.hosts.entries()) {
    if (!host.ready) continue;
    if (lateMs * 2 > timeoutMs) updateHost(step, index, { lastHeardMs: step.nowMs });
    else if (step.nowMs - host.lastHeardMs >= timeoutMs)
      return loseHost(step, index, `silent for ${timeoutMs} ms`);
  }
}
