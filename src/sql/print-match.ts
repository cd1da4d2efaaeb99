/** MATCH_RECOGNIZE as SQL text; the printers of its parts are handed in, as they refer to each other in a circle. */
import type { MatchRecognize, MatchSkip, Pattern } from './ast-match.ts';
import type { Expression } from './ast-expression.ts';
import type { OrderItem, TableAlias, TableReference } from './ast-query.ts';
import { printIdentifier } from './print-type.ts';

export type PartPrinters = {
  table: (table: TableReference) => string;
  alias: (alias: TableAlias | null) => string;
  expression: (expression: Expression) => string;
  orderBy: (items: readonly OrderItem[]) => string;
};

export function printMatch(match: MatchRecognize, print: PartPrinters): string {
  const { input, partitionBy, orderBy, measures, skip, pattern, within, define, alias } = match;
  const table = print.table(input);
  const clauses: string[] = [];
  if (partitionBy.length > 0)
    clauses.push(`PARTITION BY ${partitionBy.map(print.expression).join(', ')}`);
  if (orderBy.length > 0) clauses.push(print.orderBy(orderBy));
  if (measures.length > 0) {
    const texts = measures.map(
      ({ expression, name }) => `${print.expression(expression)} AS ${printIdentifier(name)}`,
    );
    clauses.push(`MEASURES ${texts.join(', ')}`);
  }
  clauses.push('ONE ROW PER MATCH');
  if (skip !== null) clauses.push(`AFTER MATCH SKIP ${printSkip(skip)}`);
  clauses.push(`PATTERN (${printPattern(pattern)})`);
  if (within !== null) clauses.push(`WITHIN ${print.expression(within)}`);
  if (define.length > 0) {
    const texts = define.map(
      ({ name, condition }) => `${printIdentifier(name)} AS ${print.expression(condition)}`,
    );
    clauses.push(`DEFINE ${texts.join(', ')}`);
  }
  const text = input.tag === 'join' ? `(${table})` : table;
  return `${text} MATCH_RECOGNIZE (${clauses.join(' ')})${print.alias(alias)}`;
}

function printSkip(skip: MatchSkip): string {
  switch (skip.tag) {
    case 'past_last':
      return 'PAST LAST ROW';
    case 'next_row':
      return 'TO NEXT ROW';
    case 'to_first':
      return `TO FIRST ${printIdentifier(skip.variable)}`;
    case 'to_last':
      return `TO LAST ${printIdentifier(skip.variable)}`;
  }
}

/** Also what EXPLAIN shows. */
export function printPattern(pattern: Pattern): string {
  switch (pattern.tag) {
    case 'variable':
      return printIdentifier(pattern.name);
    case 'alternation':
      return pattern.parts
        .map((part) => (part.tag === 'alternation' ? bracketed(part) : printPattern(part)))
        .join(' | ');
    case 'sequence':
      return pattern.parts
        .map((part) =>
          part.tag === 'sequence' || part.tag === 'alternation'
            ? bracketed(part)
            : printPattern(part),
        )
        .join(' ');
    case 'repeat': {
      const inner = pattern.pattern.tag === 'variable';
      const text = inner ? printPattern(pattern.pattern) : bracketed(pattern.pattern);
      return `${text}${quantifier(pattern.least, pattern.most)}${pattern.reluctant ? '?' : ''}`;
    }
  }
}

const bracketed = (pattern: Pattern): string => `(${printPattern(pattern)})`;

function quantifier(least: number, most: number | null): string {
  if (most === null) return least === 0 ? '*' : least === 1 ? '+' : `{${least},}`;
  if (least === 0 && most === 1) return '?';
  return least === most ? `{${least}}` : `{${least},${most}}`;
}
