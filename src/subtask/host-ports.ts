/** What the subtasks and the checkpoints of a host ask of it, as effects of its steps. */
import type { ErrorReport } from '../base/errors.ts';
import { redactedOperators } from '../graph/redaction.ts';
import type { GenerationSpec } from '../protocol/messages.ts';
import type { CheckpointPort } from './host-checkpoints.ts';
import { tokenOf } from './host-commits.ts';
import type { HostMetrics } from './host-metrics.ts';
import type { HostOutbox } from './host-outbox.ts';
import type { SubtaskPort, Subtasks } from './subtasks.ts';

/** The host as its ports see it. */
export type PortHost = {
  spec: GenerationSpec;
  index: number;
  incarnation: string;
  outbox: HostOutbox;
  metrics: HostMetrics;
  leader(): string;
  nowMs(): number;
  subtasks(): Subtasks;
  fail(report: ErrorReport, operator: string): void;
};

export function subtaskPort(host: PortHost): SubtaskPort {
  const { outbox, metrics, index: own } = host;
  const redacted = redactedOperators(host.spec.graph);
  return {
    read: (operator, partition, request) =>
      outbox.push({ tag: 'read', operator, partition, request }),
    fail: (operator, report) => host.fail(report, operator),
    problems: (node, kind, problems) =>
      metrics.note(node, kind, problems, own, host.nowMs(), redacted.has(node.operator.id)),
    stage: (sink, index, request) => {
      const requestId = outbox.request({ tag: 'stage', sink, index });
      const connector = host.subtasks().connectorOf(sink.operator);
      outbox.push({ tag: 'stage', requestId, connector, request });
    },
    call: (body, ticket, request) => {
      const requestId = outbox.request({ tag: 'call', body, ticket });
      outbox.push({ tag: 'call-function', requestId, operator: body.operator, request });
    },
    preview: (sink, rows, count) =>
      outbox.push({ tag: 'preview', operator: sink.operator, rows, count }),
  };
}

export function checkpointPort(host: PortHost): CheckpointPort {
  const { spec, index, incarnation, outbox } = host;
  return {
    spec,
    index,
    incarnation,
    leader: () => host.leader(),
    upload: (nameOf, bytes) => {
      const requestId = outbox.request({ tag: 'upload' });
      const key = nameOf(requestId);
      outbox.push({ tag: 'put-file', requestId, key, bytes });
      return { requestId, key };
    },
    preCommit: (sink, epoch, items) => {
      const requestId = outbox.request({ tag: 'pre-commit' });
      const token = tokenOf(spec, sink, epoch);
      const timeoutMs = spec.settings.checkpointTimeoutMs;
      outbox.push({ tag: 'pre-commit', requestId, token, items, timeoutMs });
      return requestId;
    },
  };
}
