/**
 * Live rows of a query's outputs: one tab each; followed, paused, searched, cleared. Scrolling up pauses, so that nothing
 * moves under the reader; what comes meanwhile is kept and counted.
 */
import { useSignalEffect } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { nowMicros } from '../../lib/clock.ts';
import { changeOf } from '../../lib/current-state.ts';
import type { ExactRow } from '../../lib/exact-rows.ts';
import { count, rate } from '../../lib/format.ts';
import type { RingRow } from '../../lib/row-ring.ts';
import { Icon } from '../icon.tsx';
import { columnsOfRow, rowHas } from './cells.tsx';
import { LogGrid, StateGrid } from './grid.tsx';
import { type Output, type OutputColumn, ROWS_KEPT, type Shown } from './output.ts';
import './results.css';

type Props = {
  outputs: readonly Output[];
  /** Of the output of a table, as the planner tells them; null: not known. */
  columnsOf(table: string): readonly OutputColumn[] | null;
  /** Stands where rows will be. */
  waiting: ComponentChildren;
  /** At the end of the tool bar. */
  children?: ComponentChildren;
};

export function Results({ outputs, columnsOf, waiting, children }: Props) {
  const [chosen, choose] = useState('');
  const output = outputs.find(({ operatorId }) => operatorId === chosen) ?? outputs[0];
  useSignalEffect(() => {
    const { value: now } = nowMicros;
    for (const each of outputs) each.tick(now);
  });
  if (output === undefined) return <>{waiting}</>;
  return (
    <div class="results">
      {outputs.length > 1 && (
        <div class="results-outputs" role="group" aria-label="Outputs">
          {outputs.map((each) => (
            <button
              key={each.operatorId}
              type="button"
              class="tab"
              aria-pressed={each === output}
              onClick={() => choose(each.operatorId)}
            >
              {each.table} <Came output={each} />
            </button>
          ))}
        </div>
      )}
      <OutputRows
        key={output.operatorId}
        output={output}
        known={columnsOf(output.table)}
        waiting={waiting}
      >
        {children}
      </OutputRows>
    </div>
  );
}

function Came({ output }: { output: Output }) {
  return <span class="results-came">{count(output.shown.value.came)}</span>;
}

type RowsProps = {
  output: Output;
  known: readonly OutputColumn[] | null;
  waiting: ComponentChildren;
  children: ComponentChildren;
};

function OutputRows({ output, known, waiting, children }: RowsProps) {
  const live = output.shown.value;
  const [frozen, setFrozen] = useState<Shown | null>(null);
  const [search, setSearch] = useState('');
  const [state, setState] = useState(output.updating);
  const body = useRef<HTMLDivElement>(null);
  const shown = frozen ?? live;
  useScrollPause(body, frozen !== null || state, () => setFrozen(output.shown.peek()));
  const columns = useColumns(known, shown.rows[0]);
  const rows = useMatching(shown.rows, search, logValues);
  const places = useMatching(shown.state, search, stateValues);
  const empty = live.came === 0;
  return (
    <>
      <div class="results-bar">
        {output.updating && <ModeButtons state={state} choose={setState} />}
        <PauseButton
          paused={frozen !== null}
          missed={live.came - shown.came}
          toggle={() => setFrozen(frozen === null ? live : null)}
        />
        <label class="results-search">
          <span class="hidden-text">Search in the rows</span>
          <Icon name="search" />
          <input
            type="search"
            class="input"
            placeholder="Search rows"
            value={search}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        </label>
        <Numbers
          live={live}
          current={state}
          matching={search === '' ? null : state ? places.length : rows.length}
        />
        <button
          type="button"
          class="button quiet small"
          disabled={live.rows.length === 0}
          onClick={() => {
            output.clear();
            setFrozen(null);
          }}
        >
          Clear
        </button>
        {children}
      </div>
      <div class="results-body" ref={body}>
        {empty ? (
          waiting
        ) : state ? (
          <StateGrid label={`Current rows of ${output.table}`} rows={places} columns={columns} />
        ) : (
          <LogGrid
            label={`Rows of ${output.table}`}
            rows={rows}
            columns={columns}
            updating={output.updating}
            follow={frozen === null}
          />
        )}
      </div>
    </>
  );
}

type NumbersProps = { live: Shown; current: boolean; matching: number | null };

function Numbers({ live, current, matching }: NumbersProps) {
  const { came, perSecond, dropped, state } = live;
  const rows = current ? state.length : came;
  return (
    <span class="results-numbers">
      {matching !== null && <span>{count(matching)} match</span>}
      <span>
        {count(rows)} {rows === 1 ? 'row' : 'rows'}
        {current && ` after ${count(came)} ${came === 1 ? 'change' : 'changes'}`}
      </span>
      <span class="results-rate">{rate(perSecond)}</span>
      {came > ROWS_KEPT && <span>the last {count(ROWS_KEPT)} are kept</span>}
      {dropped > 0 && (
        <span class="results-dropped" title="They came faster than this page could take them.">
          {count(dropped)} skipped
        </span>
      )}
    </span>
  );
}

type ModeProps = { state: boolean; choose(state: boolean): void };

/** An updating result is a table; its rows are that, its changes the way there. */
function ModeButtons({ state, choose }: ModeProps) {
  return (
    <div class="switch" role="group" aria-label="What is shown">
      <button type="button" aria-pressed={state} onClick={() => choose(true)}>
        Current rows
      </button>
      <button type="button" aria-pressed={!state} onClick={() => choose(false)}>
        Changes
      </button>
    </div>
  );
}

type PauseProps = { paused: boolean; missed: number; toggle(): void };

function PauseButton({ paused, missed, toggle }: PauseProps) {
  return (
    <button type="button" class="button small results-pause" aria-pressed={paused} onClick={toggle}>
      <Icon name={paused ? 'play' : 'pause'} />
      {paused ? (missed > 0 ? `Follow (${count(missed)} new)` : 'Follow') : 'Pause'}
    </button>
  );
}

const AT_END_PX = 40;
const UPWARDS = ['ArrowUp', 'PageUp', 'Home'];

/** Going up is wanting to read. Wheel and keys say so before rows that come have moved the end again. */
function useScrollPause(
  body: { current: HTMLElement | null },
  off: boolean,
  pause: () => void,
): void {
  const act = useRef({ off, pause });
  act.current = { off, pause };
  useEffect(() => {
    const element = body.current;
    if (element === null) return undefined;
    let top = 0;
    const stop = (): void => {
      const table = element.querySelector('.table');
      if (act.current.off || table === null || table.scrollTop <= 0) return;
      act.current.pause();
    };
    const look = (event: Event): void => {
      const { scrollTop, clientHeight, scrollHeight } = event.target as HTMLElement;
      if (scrollTop < top - 1 && scrollTop + clientHeight < scrollHeight - AT_END_PX) stop();
      top = scrollTop;
    };
    const turn = ({ deltaY }: WheelEvent): void => {
      if (deltaY < 0) stop();
    };
    const key = ({ key: name }: KeyboardEvent): void => {
      if (UPWARDS.includes(name)) stop();
    };
    element.addEventListener('scroll', look, { capture: true, passive: true });
    element.addEventListener('wheel', turn, { passive: true });
    element.addEventListener('keydown', key);
    return () => {
      element.removeEventListener('scroll', look, { capture: true });
      element.removeEventListener('wheel', turn);
      element.removeEventListener('keydown', key);
    };
  }, [body]);
}

function useColumns(
  known: readonly OutputColumn[] | null,
  first: RingRow | undefined,
): readonly OutputColumn[] {
  const kept = useRef<readonly OutputColumn[]>([]);
  return useMemo(() => {
    if (known !== null && known.length > 0) return known;
    if (kept.current.length === 0 && first !== undefined) {
      const change = changeOf(first.values);
      kept.current = columnsOfRow(change?.after ?? change?.before ?? first.values);
    }
    return kept.current;
  }, [known, first]);
}

const logValues = ({ values }: RingRow): ExactRow => values;
const stateValues = ({ values }: { values: ExactRow }): ExactRow => values;

function useMatching<Row>(
  rows: readonly Row[],
  search: string,
  valuesOf: (row: Row) => ExactRow,
): readonly Row[] {
  return useMemo(() => {
    const lowered = search.trim().toLowerCase();
    return lowered === '' ? rows : rows.filter((row) => rowHas(valuesOf(row), lowered));
  }, [rows, search, valuesOf]);
}
