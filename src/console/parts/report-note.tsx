/** One error of a list of them, as the API reports it. */
import type { Report } from '../../api/http/problem.ts';

export function ReportNote({ report: { message, hint, code } }: { report: Report }) {
  return (
    <div class="note bad">
      <strong>{message}</strong>
      {hint !== undefined && <span>{hint}</span>}
      <span class="code">{code}</span>
    </div>
  );
}
