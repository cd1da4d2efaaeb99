/** Writing a query: its text, the graph that it becomes, and the rows of a preview, on one page. */
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { short } from '../../lib/format.ts';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { SqlEditor } from '../../parts/editor/editor.tsx';
import { Desk } from './desk.ts';
import { ErrorsPane, wrongRows } from './errors-pane.tsx';
import { GraphPane } from './graph-pane.tsx';
import { Head } from './head.tsx';
import './page.css';
import { PlanPane } from './plan-pane.tsx';
import { Problems } from './problems.tsx';
import { ReplaceQuestion } from './replace-question.tsx';
import { RowsPane } from './rows-pane.tsx';
import { SendPane } from './send-pane.tsx';
import { SplitBar, useSplit } from './split.tsx';
import { StartDialog } from './start-dialog.tsx';
import { suggestedName } from './suggested-name.ts';
import { useOpening } from './use-opening.ts';

const PANES = ['sql', 'graph', 'rows', 'send', 'errors', 'problems', 'plan'] as const;
export type Pane = (typeof PANES)[number];

const TITLES: Record<Pane, string> = {
  sql: 'SQL',
  graph: 'Graph',
  rows: 'Rows',
  send: 'Send rows',
  errors: 'Errors',
  problems: 'Problems',
  plan: 'Plan',
};

const ICONS: Partial<Record<Pane, IconName>> = { problems: 'warning' };

const HINT =
  '-- Write SQL, choose an example above, or paste your own rows under Send rows.\n-- Ctrl-Space completes.';

export function EditPage() {
  const [desk] = useState(() => new Desk());
  const { route, query } = useLocation();
  const [pane, show] = useState<Pane>(() => paneNamed(query['pane']));
  const opened = useOpening(desk, show);
  const [starting, setStarting] = useState(false);
  useEffect(() => () => desk.close(), [desk]);
  // From the first change on the address means the draft: reloading shows what was written.
  desk.onWritten = () => {
    if (!('draft' in query)) route(`/pipelines/new?draft&pane=${pane}`, true);
  };
  const choose = (next: Pane): void => {
    show(next);
    const address = new URLSearchParams(location.search);
    address.set('pane', next);
    route(`/pipelines/new?${address}`, true);
  };
  const run = useCallback(async (): Promise<void> => {
    show('rows');
    await desk.run();
    if (desk.preview.phase.value === 'failed' && hasProblems(desk)) show('problems');
  }, [desk]);
  return (
    <>
      <Parts desk={desk} pane={pane} show={choose} run={run}>
        <Head
          desk={desk}
          run={() => void run()}
          start={() => setStarting(true)}
          openExample={(id) => route(`/pipelines/new?example=${encodeURIComponent(id)}`)}
        />
        {opened.failure !== null && <ProblemNote thrown={opened.failure} />}
      </Parts>
      {starting && (
        <StartDialog
          desk={desk}
          name={desk.origin.value?.title ?? suggestedName(desk.text.value)}
          onClose={() => setStarting(false)}
          onStarted={(id) => route(`/pipelines/${id}`)}
        />
      )}
      {opened.question !== null && (
        <ReplaceQuestion
          wanted={opened.question}
          onReplace={() => opened.answer(true)}
          onKeep={() => opened.answer(false)}
        />
      )}
    </>
  );
}

const paneNamed = (name: string | undefined): Pane => PANES.find((pane) => pane === name) ?? 'sql';

type PartsProps = {
  desk: Desk;
  pane: Pane;
  show(pane: Pane): void;
  run(): Promise<void>;
  children: ComponentChildren;
};

function Parts({ desk, pane, show, run, children }: PartsProps) {
  const across = useSplit('edit-across', 56);
  const down = useSplit('edit-down', 54);
  const style = { '--split-across': `${across.at}%`, '--split-down': `${down.at}%` };
  return (
    <div class="edit" data-pane={pane} style={style}>
      {children}
      <div class="edit-desk">
        <div class="edit-top">
          <section class="edit-sql" aria-label="SQL">
            <SqlEditor
              text={desk.text.value}
              hint={HINT}
              onChange={(text) => desk.changed(text)}
              onRun={() => void run()}
              onFormat={() => void desk.format()}
              onReady={(editor) => desk.editorReady(editor)}
            />
          </section>
          <SplitBar split={across} direction="across" label="Width of the SQL" />
          <section class="edit-graph" aria-label="Graph">
            <GraphPane desk={desk} />
          </section>
        </div>
        <SplitBar split={down} direction="down" label="Height of the SQL" />
        <section class="edit-dock" aria-label="Preview">
          <h2 class="hidden-text">Preview</h2>
          <PaneTabs desk={desk} pane={pane} show={show} />
          <div class="edit-pane">
            {(pane === 'rows' || pane === 'sql' || pane === 'graph') && (
              <RowsPane desk={desk} run={() => void run()} show={show} />
            )}
            {pane === 'send' && <SendPane desk={desk} run={run} />}
            {pane === 'errors' && <ErrorsPane desk={desk} />}
            {pane === 'problems' && <Problems desk={desk} />}
            {pane === 'plan' && <PlanPane desk={desk} />}
          </div>
        </section>
      </div>
    </div>
  );
}

const hasProblems = (desk: Desk): boolean =>
  (desk.validation.answer.value?.result.errors.length ?? 0) > 0;

type TabsProps = { desk: Desk; pane: Pane; show(pane: Pane): void };

/** On a narrow page every part is a tab; on a wide one SQL and graph are always in sight. */
function PaneTabs({ desk, pane, show }: TabsProps) {
  const findings = desk.validation.answer.value?.findings ?? [];
  const more = desk.validation.answer.value?.result.more ?? 0;
  const errors = findings.some(({ severity }) => severity === 'error');
  const wrong = wrongRows(desk);
  const came = desk.preview.outputs.value.reduce((sum, output) => sum + output.shown.value.came, 0);
  return (
    <div class="edit-tabs" role="group" aria-label="Parts of the page">
      {PANES.map((name) => {
        const icon = ICONS[name];
        const shown = name === pane || (name === 'rows' && (pane === 'sql' || pane === 'graph'));
        return (
          <button
            key={name}
            type="button"
            class={`tab edit-tab-${name}`}
            aria-pressed={name === pane}
            data-shown={shown}
            onClick={() => show(name)}
          >
            {icon !== undefined && findings.length > 0 && <Icon name={icon} />}
            {TITLES[name]}
            {name === 'rows' && !shown && came > 0 && (
              <span class="tab-count" aria-hidden="true">
                {short(came)}
              </span>
            )}
            {name === 'errors' && wrong > 0 && <span class="tab-count warn">{short(wrong)}</span>}
            {name === 'problems' && findings.length > 0 && (
              <span class={`tab-count ${errors ? 'bad' : 'warn'}`}>{findings.length + more}</span>
            )}
          </button>
        );
      })}
    </div>
  );
}
