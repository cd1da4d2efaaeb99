/** What went wrong: the sentence, its code, the way out. */
import type { ComponentChildren } from 'preact';
import { problemOf } from '../api/client.ts';
import { Prose } from './prose.tsx';

type Props = { thrown: unknown; children?: ComponentChildren };

export function ProblemNote({ thrown, children }: Props) {
  const problem = problemOf(thrown);
  return (
    <div class="note bad" role="alert">
      <strong>
        <Prose text={problem.error} />
      </strong>
      {problem.detail !== undefined && (
        <span>
          <Prose text={problem.detail} />
        </span>
      )}
      {problem.suggestion !== undefined && (
        <span>
          Did you mean <code>{problem.suggestion}</code>?
        </span>
      )}
      {problem.hint !== undefined && (
        <span>
          <Prose text={problem.hint} />
        </span>
      )}
      {problem.code !== undefined && <span class="code">{problem.code}</span>}
      {children}
    </div>
  );
}
