/**
 * Collects what is wrong with a program, so that its author sees every mistake at once.
 * Failure behaviour: nothing here throws; a statement with an error yields no plan.
 */
import {
  EngineError,
  type ErrorCode,
  type ErrorExtras,
  type ErrorReport,
  type Span,
} from '../base/errors.ts';

export class Diagnostics {
  readonly #errors: ErrorReport[] = [];
  readonly #warnings: ErrorReport[] = [];
  readonly #owners = new Map<Span, string>();

  /** What is found at this very place, not at one like it, is told to be the owner's. */
  attribute(place: Span, owner: string): void {
    this.#owners.set(place, owner);
  }

  #told(message: string, span: Span): string {
    const owner = this.#owners.get(span);
    return owner === undefined ? message : `${owner}: ${message}`;
  }

  error(
    code: ErrorCode,
    message: string,
    span: Span,
    extras: Omit<ErrorExtras, 'span'> = {},
  ): void {
    this.#errors.push(new EngineError(code, this.#told(message, span), { ...extras, span }).report);
  }

  warn(code: ErrorCode, message: string, span: Span, extras: Omit<ErrorExtras, 'span'> = {}): void {
    this.#warnings.push(
      new EngineError(code, this.#told(message, span), { ...extras, span }).report,
    );
  }

  /** Whether anything was reported since `mark` was taken from `count`. */
  get count(): number {
    return this.#errors.length;
  }

  /** In the order of the text; the same finding at the same place once. */
  get errors(): ErrorReport[] {
    return inOrder(this.#errors);
  }

  get warnings(): ErrorReport[] {
    return inOrder(this.#warnings);
  }
}

/** Extras with the nearest spelling when there is one. */
export function withSuggestion(
  suggestion: string | null,
  hint?: string,
): Omit<ErrorExtras, 'span'> {
  return {
    ...(suggestion === null ? {} : { suggestion }),
    ...(hint === undefined ? {} : { hint }),
  };
}

function inOrder(reports: readonly ErrorReport[]): ErrorReport[] {
  const seen = new Set<string>();
  const unique = reports.filter((report) => {
    const key = `${report.code} ${report.message} ${JSON.stringify(report.span)}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  const lineOf = (report: ErrorReport): number => report.span?.start.line ?? 0;
  const columnOf = (report: ErrorReport): number => report.span?.start.column ?? 0;
  return unique.sort(
    (left, right) => lineOf(left) - lineOf(right) || columnOf(left) - columnOf(right),
  );
}
