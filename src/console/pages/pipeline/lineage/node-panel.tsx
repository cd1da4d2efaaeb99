/** One checkpoint: what it is, what it read and wrote, its phases, its files, and its manifest as it is stored. */
import { bytes, count } from '../../../lib/format.ts';
import type { LineageManifest } from '../../../../api/stream/detail-shapes.ts';
import { useLoaded } from '../../../api/load.ts';
import { CloseButton } from '../../../parts/close-button.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { ProblemNote } from '../../../parts/problem-note.tsx';
import { Time } from '../../../parts/time.tsx';
import { usePage } from '../context.ts';
import { Pair } from '../pair.tsx';
import { PhaseBars } from '../phase-bars.tsx';
import type { RiverNode } from './layout.ts';
import { Inputs, Losers, Outputs, StateFiles } from './node-parts.tsx';
import type { River } from './river.ts';
import { beatenWords, reasonWords, stateWords } from './words.ts';

type Props = { node: RiverNode; river: River; onClose(): void };

export function NodePanel({ node, river, onClose }: Props) {
  const { epoch, kind, canonical, loser } = node;
  const ref = canonical?.known === 'kept' ? (canonical.detail?.ref ?? null) : (loser?.ref ?? null);
  return (
    <aside class="panel node-panel" aria-label={`Epoch ${epoch}`}>
      <div class="panel-head">
        <h2>{kind === 'cut' ? `Behind epoch ${epoch - 1}` : `Epoch ${epoch}`}</h2>
        <span class={`node-state ${kind}`}>{stateWords(node)}</span>
        <div class="actions">
          <CloseButton onClose={onClose} />
        </div>
      </div>
      <div class="panel-body node-body">
        <Facts node={node} river={river} />
        {loser !== null && <p class="note">{beatenWords(loser)}</p>}
        {kind === 'abandoned' && (
          <p class="note">
            Its leader had begun it and was replaced before anything of it was claimed. This page
            saw it begin; in the bucket nothing names it.
          </p>
        )}
        {kind === 'cut' && (
          <p class="note">
            Its leader, or a host of it, failed after epoch {epoch - 1}. What it had read behind
            that epoch was never claimed and never committed: the next leader fenced it off and read
            the same rows again, from the offsets of epoch {epoch - 1}.
          </p>
        )}
        {canonical !== null && canonical.known !== 'kept' && (
          <p class="note">
            Its manifest is not kept any more: the pipeline keeps the newest checkpoints only. It
            stays canonical for ever.
          </p>
        )}
        {(canonical?.detail?.others.length ?? 0) > 0 && (
          <Losers losers={canonical?.detail?.others ?? []} />
        )}
        {ref !== null && <Manifest key={ref} name={ref} />}
      </div>
    </aside>
  );
}

function Facts({ node, river }: { node: RiverNode; river: River }) {
  const detail = node.canonical?.detail ?? null;
  const band = river.generations.find(
    (one) =>
      one.generation === node.generation &&
      (node.canonical === null || one.nonce === node.canonical.nonce),
  );
  return (
    <dl class="pairs">
      <Pair name="Generation">
        {node.kind === 'running' ? '–' : node.generation}
        {band !== undefined && ` · ${reasonWords(band.reason)}, parallelism ${band.parallelism}`}
      </Pair>
      {node.canonical !== null && (
        <Pair name="Made">
          <Time at={node.canonical.createdAt} show="all" /> UTC
        </Pair>
      )}
      {detail !== null && (
        <>
          <Pair name="Continues">
            {detail.parent_epoch === null ? 'the beginning' : `epoch ${detail.parent_epoch}`}
          </Pair>
          <Pair name="Rows in">
            {detail.input_rows === null ? 'not told' : count(detail.input_rows)}
          </Pair>
          <Pair name="Rows out">
            {count(detail.output_rows)} in {count(detail.items)} piece
            {detail.items === 1 ? '' : 's'}, {bytes(detail.output_bytes)}
          </Pair>
          <Pair name="State">
            {bytes(detail.bytes)} in {count(detail.files)} file{detail.files === 1 ? '' : 's'}
          </Pair>
        </>
      )}
    </dl>
  );
}

function Manifest({ name }: { name: string }) {
  const { id } = usePage();
  const { data, failure } = useLoaded<LineageManifest>(
    `/pipelines/${id}/lineage/manifest?ref=${encodeURIComponent(name)}`,
  );
  if (failure !== null) return <ProblemNote thrown={failure} />;
  if (data === null) return <div class="later" style={{ minHeight: '16rem' }} />;
  const text = JSON.stringify(data.manifest, null, 2);
  return (
    <>
      {data.phases !== null && data.phases.hosts.length > 0 && (
        <section>
          <h3>Phases</h3>
          <PhaseBars checkpoint={data.phases} />
        </section>
      )}
      <Inputs manifest={data.manifest} />
      <Outputs outputs={data.outputs} />
      <StateFiles files={data.files} />
      <details class="raw">
        <summary>Manifest, {bytes(data.bytes)}</summary>
        <p class="raw-key">
          <code>{data.ref}</code>
          <CopyButton text={text} label="Copy JSON" />
        </p>
        <pre tabIndex={0}>{text}</pre>
      </details>
    </>
  );
}
