/** Fixes by what they do to the text: replace, insert, one more element of a list. */
import type { Position, Span } from '../../base/errors.ts';
import type { CreateTable } from '../../sql/ast-statement.ts';
import type { TextEdit } from '../../sql/places.ts';
import type { Finding } from './finding.ts';
import { at, isBefore } from './spans.ts';

export type Fix = { title: string; edits: TextEdit[] };

export function replace(finding: Finding, span: Span, text: string, title?: string): Fix {
  const old = finding.written(span);
  return {
    title: title ?? `Change ${short(old)} to ${short(text)}`,
    edits: [{ span, text }],
  };
}

export function insert(place: Position, text: string, title: string): Fix {
  return { title, edits: [{ span: at(place), text }] };
}

/** One more element behind the last of a list, on a line of its own if that is on one. */
function behind(last: Span, element: string, of: Span): TextEdit {
  const isBroken = last.start.line > of.start.line;
  const separator = isBroken ? `,\n${' '.repeat(last.start.column - 1)}` : ', ';
  return { span: at(last.end), text: `${separator}${element}` };
}

export function addDefinition(table: CreateTable, element: string): Fix[] {
  const last = [...(table.columns ?? []), ...table.constraints]
    .map(({ span }) => span)
    .reduce<Span | null>(
      (found, span) => (found === null || isBefore(found.end, span.end) ? span : found),
      null,
    );
  if (last === null) return [];
  return [{ title: `Add ${short(element)}`, edits: [behind(last, element, table.span)] }];
}

export function addOption(table: CreateTable, option: string): Fix[] {
  const title = `Add ${short(option)}`;
  const last = table.options.at(-1);
  if (last === undefined) return [insert(table.span.end, ` WITH (${option})`, title)];
  return [{ title, edits: [behind(last.span, option, table.span)] }];
}

/** Fit for the title of a button. */
export const short = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
};
