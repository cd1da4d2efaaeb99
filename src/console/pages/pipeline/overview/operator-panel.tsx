/** One operator: its numbers, each of its subtasks, the partitions it reads, and its own charts. */
import type {
  PipelineStatus,
  StatusOperator,
  StatusPartition,
} from '../../../../api/observe/status-shapes.ts';
import { bytes, count, duration, rate, utc } from '../../../lib/format.ts';
import { CloseButton } from '../../../parts/close-button.tsx';
import { Time } from '../../../parts/time.tsx';
import type { GraphNode } from '../../../parts/graph/layout.ts';
import { usePage } from '../context.ts';
import { HISTORY_MICROS } from '../feed.ts';
import { Pair } from '../pair.tsx';
import { Body } from './charts.tsx';
import { BUSY_WORDS, busyOf, operatorOf, watermarkWords } from './load.ts';
import { percent } from './series.ts';
import { ShortTable } from '../../../parts/short-table.tsx';

type Props = { node: GraphNode; onClose(): void };

export function OperatorPanel({ node, onClose }: Props) {
  const { feed } = usePage();
  const status = feed.status.value;
  const operator = operatorOf(status, node.id);
  return (
    <aside class="panel operator-panel" aria-label={`${node.title}, ${node.id}`}>
      <div class="panel-head">
        <h2>{node.title}</h2>
        <code>{node.id}</code>
        <div class="actions">
          <CloseButton onClose={onClose} />
        </div>
      </div>
      <div class="panel-body">
        <p class="operator-text">
          <code>{node.description}</code>
        </p>
        {operator === null ? (
          <p>Nobody has told anything of it yet.</p>
        ) : (
          <>
            <Numbers operator={operator} />
            <Subtasks operator={operator} />
            <Partitions status={status} id={node.id} />
            <Body
              history={feed.history.value}
              spanMicros={HISTORY_MICROS}
              asTable={false}
              operator={node.id}
            />
          </>
        )}
      </div>
    </aside>
  );
}

function Numbers({ operator }: { operator: StatusOperator }) {
  const { open_windows: open } = operator;
  const facts: [string, string][] = [
    ['Rows in', `${count(operator.rows_in)}, ${rate(operator.rows_in_per_second)}`],
    ['Rows out', `${count(operator.rows_out)}, ${rate(operator.rows_out_per_second)}`],
    ['Watermark', watermarkWords(operator)],
    [
      'Backpressure',
      `${percent(operator.backpressure)}: ${BUSY_WORDS[busyOf(operator.backpressure)]}`,
    ],
    ['State', `${count(operator.state_rows)} rows, ${bytes(operator.state_bytes)}`],
    [
      'Not passed on',
      `${count(operator.filtered)} filtered, ${count(operator.late)} late, ${count(operator.errors)} refused`,
    ],
  ];
  if (open !== null)
    facts.push([
      'Open windows',
      open.first_end === null
        ? count(open.count)
        : `${count(open.count)}; the first ends ${utc(open.first_end)}`,
    ]);
  return (
    <dl class="pairs">
      {facts.map(([name, value]) => (
        <Pair key={name} name={name}>
          {value}
        </Pair>
      ))}
    </dl>
  );
}

function Subtasks({ operator }: { operator: StatusOperator }) {
  return (
    <section>
      <h3>Subtasks</h3>
      <ShortTable
        label="Subtasks"
        heads={[
          { number: '#' },
          { number: 'Host' },
          { number: 'Rows/s' },
          { number: 'Rows in' },
          'Watermark',
          { number: 'Full' },
          { number: 'State' },
        ]}
      >
        {operator.subtasks.map((subtask) => (
          <tr key={subtask.index}>
            <td class="number">{subtask.index}</td>
            <td class="number">{subtask.host}</td>
            <td class="number">{rate(subtask.rows_in_per_second)}</td>
            <td class="number">{count(subtask.rows_in)}</td>
            <td>{markText(subtask.watermark)}</td>
            <td class="number">{percent(subtask.backpressure)}</td>
            <td class="number">{bytes(subtask.state_bytes)}</td>
          </tr>
        ))}
      </ShortTable>
    </section>
  );
}

const markText = (watermark: StatusOperator['watermark']): string =>
  watermark === null ? '–' : watermark === 'end' ? 'ended' : utc(watermark);

function Partitions({ status, id }: { status: PipelineStatus | null; id: string }) {
  const source = status?.sources.find(({ operator_id }) => operator_id === id);
  if (status === null || source === undefined) return null;
  return (
    <section>
      <h3>
        Partitions of {source.table} <small>{source.connector}</small>
      </h3>
      <ShortTable
        label="Partitions"
        heads={[
          { number: '#' },
          { number: 'Rows' },
          'Last row',
          'Watermark',
          { number: 'Waiting' },
          'State',
        ]}
      >
        {source.partitions.map((partition) => (
          <Partition key={partition.partition} partition={partition} status={status} />
        ))}
      </ShortTable>
    </section>
  );
}

function Partition({ partition, status }: { partition: StatusPartition; status: PipelineStatus }) {
  const { rows, last_row_at: last, watermark, backlog_rows: waiting, idle, ended } = partition;
  // The one that the watermark of all waits for.
  const holds =
    typeof watermark === 'number' &&
    !idle &&
    status.sources.every((source) =>
      source.partitions.every(
        (other) =>
          other.idle || typeof other.watermark !== 'number' || other.watermark >= watermark,
      ),
    );
  const silent = last === null ? null : status.at - last;
  return (
    <tr>
      <td class="number">{partition.partition}</td>
      <td class="number">{count(rows)}</td>
      <td>
        <Time at={last} show="ago" />
      </td>
      <td>{markText(watermark)}</td>
      <td class="number">{waiting === null ? '–' : count(waiting)}</td>
      <td>
        {ended
          ? 'ended'
          : idle
            ? 'idle: holds nobody back'
            : holds && silent !== null && silent > 5_000_000
              ? `silent for ${duration(silent)}, holds the watermark`
              : 'read'}
      </td>
    </tr>
  );
}
