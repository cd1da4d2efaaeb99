/** What a checkpoint read, wrote and keeps, as short tables. */
import type { LineageManifest } from '../../../../api/stream/detail-shapes.ts';
import { bytes, count } from '../../../lib/format.ts';
import type { Loser } from './river.ts';
import { beatenWords } from './words.ts';
import { ShortTable } from '../../../parts/short-table.tsx';

type InputRange = {
  operator: string;
  partition: number;
  from: unknown;
  to: unknown;
  rows: number;
};

export function Inputs({ manifest }: { manifest: LineageManifest['manifest'] }) {
  const inputs = (manifest['inputs'] ?? []) as InputRange[];
  if (inputs.length === 0) return null;
  return (
    <section>
      <h3>Inputs</h3>
      <ShortTable label="Inputs" heads={['Source', 'Partition', 'From', 'To', { number: 'Rows' }]}>
        {inputs.map(({ operator, partition, from, to, rows }, index) => (
          <tr key={index}>
            <td>{operator}</td>
            <td class="number">{partition}</td>
            <td>
              <code title={JSON.stringify(from)}>{offsetText(from)}</code>
            </td>
            <td>
              <code title={JSON.stringify(to)}>{offsetText(to)}</code>
            </td>
            <td class="number">{count(rows)}</td>
          </tr>
        ))}
      </ShortTable>
    </section>
  );
}

/** Where a source stands, without what it needs besides, as the state of a generator. */
function offsetText(offset: unknown): string {
  if (offset === null || offset === undefined) return 'start';
  if (typeof offset !== 'object') return String(offset);
  const plain = Object.entries(offset).filter(([, value]) => typeof value !== 'object');
  if (plain.length === 0) return JSON.stringify(offset);
  return plain.map(([name, value]) => `${name} ${String(value)}`).join(', ');
}

export function Outputs({ outputs }: { outputs: LineageManifest['outputs'] }) {
  if (outputs.length === 0) return null;
  return (
    <section>
      <h3>Output</h3>
      <ShortTable
        label="Output"
        heads={['Object', { number: 'Rows' }, { number: 'Size' }, 'Committed']}
      >
        {outputs.map(({ key, target, rows, bytes: size, committed }) => (
          <tr key={key}>
            <td class="path">
              <code>{target}</code>
            </td>
            <td class="number">{count(rows)}</td>
            <td class="number">{bytes(size)}</td>
            <td>{committed ? 'yes' : 'not yet'}</td>
          </tr>
        ))}
      </ShortTable>
    </section>
  );
}

export function StateFiles({ files }: { files: LineageManifest['files'] }) {
  if (files.length === 0) return null;
  const bySize = [...files].sort((left, right) => right.bytes - left.bytes);
  return (
    <section>
      <h3>State files</h3>
      <ShortTable
        label="State files"
        heads={['Operator', 'Table', { number: 'Rows' }, { number: 'Size' }]}
      >
        {bySize.map(({ key, operator, table, rows, bytes: size }) => (
          <tr key={key} title={key}>
            <td>{operator}</td>
            <td>{table}</td>
            <td class="number">{count(rows)}</td>
            <td class="number">{bytes(size)}</td>
          </tr>
        ))}
      </ShortTable>
    </section>
  );
}

export function Losers({ losers }: { losers: readonly Loser[] }) {
  return (
    <section>
      <h3>What lost this epoch</h3>
      <ul class="losers">
        {losers.map((loser) => (
          <li key={loser.ref}>
            <strong>Generation {loser.generation}</strong> {beatenWords(loser)}
          </li>
        ))}
      </ul>
    </section>
  );
}
