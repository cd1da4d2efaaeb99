/** What is wrong with the query, each with its place and the fixes to click. */
import { count } from '../../lib/format.ts';
import type { Finding } from '../../parts/editor/findings.ts';
import { rangeOf } from '../../parts/editor/edits.ts';
import { Empty } from '../../parts/empty.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Prose } from '../../parts/prose.tsx';
import type { Desk } from './desk.ts';

export function Problems({ desk }: { desk: Desk }) {
  const { answer, failure } = desk.validation;
  const findings = answer.value?.findings ?? [];
  const more = answer.value?.result.more ?? 0;
  const { value: text } = desk.text;
  if (failure.value !== null) return <ProblemNote thrown={failure.value} />;
  if (findings.length === 0)
    return (
      <Empty title={text.trim() === '' ? 'Nothing to check yet' : 'The planner has nothing to say'}>
        <p>
          While you write, the query is planned as it would run. What does not fit is underlined in
          the text and listed here, with the change that repairs it.
        </p>
      </Empty>
    );
  return (
    <ul class="problems">
      {findings.map((finding, index) => (
        <Problem
          key={`${finding.code} ${index}`}
          finding={finding}
          desk={desk}
          about={answer.value?.about ?? ''}
        />
      ))}
      {more > 0 && <li class="faint">and {count(more)} more</li>}
    </ul>
  );
}

type Props = { finding: Finding; desk: Desk; about: string };

function Problem({ finding, desk, about }: Props) {
  const { severity, message, detail, hint, code, span, fixes = [] } = finding;
  const reveal = (): void => {
    if (span === undefined) return;
    const { from, to } = rangeOf(about, span);
    desk.editor?.reveal(from, to);
  };
  return (
    <li class={`note ${severity === 'error' ? 'bad' : 'warn'}`}>
      <div class="problem-head">
        <strong>
          <Prose text={message} />
        </strong>
        {span !== undefined && (
          <button type="button" class="button quiet small" onClick={reveal}>
            line {span.start.line}:{span.start.column}
          </button>
        )}
      </div>
      {detail !== undefined && (
        <span>
          <Prose text={detail} />
        </span>
      )}
      {hint !== undefined && (
        <span>
          <Prose text={hint} />
        </span>
      )}
      {fixes.length > 0 && (
        <div class="problem-fixes">
          {fixes.map((fix) => (
            <button
              key={fix.title}
              type="button"
              class="button small"
              onClick={() => desk.editor?.applyFix(about, fix)}
            >
              {fix.title}
            </button>
          ))}
        </div>
      )}
      <span class="code">{code}</span>
    </li>
  );
}
