/**
 * A pipeline's health: status facts made into one sentence that answers "why is nothing coming out?".
 *
 * Pure: it looks at nothing but what it is given, and the same facts give the same sentence. Every rule looks for one
 * reason; of those that hold, the weightiest is the health and the rest are `others`. A rule speaks only of what it can
 * see in counters and times, so a reason may hold that none of them knows: then the health is OK and says what flows.
 */
import type { PipelineAndJob } from '../../catalog/schema.ts';
import type { PhysicalGraph } from '../../graph/graph.ts';
import type { JobError } from '../../protocol/messages.ts';
import type { ApiServices } from '../services.ts';
import { graphOf } from '../views.ts';
import { badRowsFinding } from './health-bad-rows.ts';
import { checkpointFindings } from './health-checkpoints.ts';
import { type Facts, type Finding, type RefusedRows, factsOf, findingOf } from './health-facts.ts';
import { refusedByLogs } from './health-logs.ts';
import { operatorFindings } from './health-operators.ts';
import { HEALTH_CODES, type Health, type HealthFinding } from './health-shapes.ts';
import { sourceFindings } from './health-sources.ts';
import { stateFinding } from './health-states.ts';
import { counted, perSecond } from './health-words.ts';
import { leaderOf, statusOf } from './status.ts';
import type { PipelineStatus } from './status-shapes.ts';

/** Asks the leader. */
export async function pipelineHealth(
  services: ApiServices,
  found: PipelineAndJob,
): Promise<Health> {
  const leader = await leaderOf(services, found);
  const status = statusOf(found, leader, services.nowMs());
  const graph = graphOf(found.pipeline);
  const refused = await refusedByLogs(services, status, graph);
  return healthOf(status, graph, leader?.errors ?? [], refused);
}

/**
 * @param errors  what operators reported last, for the reason of rows that were refused
 * @param refused  what logs refused, of sources without rows
 */
export function healthOf(
  status: PipelineStatus,
  graph: PhysicalGraph,
  errors: readonly JobError[] = [],
  refused: ReadonlyMap<string, RefusedRows> = new Map(),
): Health {
  const facts = factsOf(status, graph, errors, refused);
  const findings = findingsOf(facts).map((finding) => findingOf(facts, finding));
  const [first, ...others] = inOrder(findings, status.rates.rows_out > 0);
  return { ...(first as HealthFinding), others };
}

function findingsOf(facts: Facts): Finding[] {
  const { status } = facts;
  const state = stateFinding(facts);
  const bad = badRowsFinding(facts);
  const rows = [
    ...sourceFindings(facts),
    ...operatorFindings(facts),
    ...(bad === null ? [] : [bad]),
  ];
  if (state === null) return [...rows, ...checkpointFindings(facts), okay(status)];
  // What came of the rows is of interest when all is over, not what they wait for.
  return state.code === 'FINISHED' || state.code === 'FAILED' || state.code === 'STOPPED'
    ? [state, ...rows.filter((finding) => finding.level === 'warning')]
    : [state];
}

function okay({ rates, totals }: PipelineStatus): Finding {
  const flows = rates.rows_in > 0 || rates.rows_out > 0;
  return {
    level: 'ok',
    code: 'OK',
    sentence: flows
      ? `${perSecond(rates.rows_in)} rows/s come in, ${perSecond(rates.rows_out)} rows/s go out.`
      : `Running: ${counted(totals.rows_in, 'row')} in, ${counted(totals.rows_out, 'row')} out.`,
  };
}

/** What waits is worth a word only while nothing comes out, and what is over never more than what flows. */
function inOrder(findings: HealthFinding[], flows: boolean): HealthFinding[] {
  const rank = ({ level, code }: HealthFinding): number =>
    HEALTH_CODES.indexOf(code) +
    ((flows && level === 'waiting') || (level === 'ok' && code === 'SOME_BAD')
      ? HEALTH_CODES.length
      : 0);
  return findings.toSorted((left, right) => rank(left) - rank(right));
}
