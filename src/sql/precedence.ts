/**
 * How tightly operators bind, as in Postgres; the parser and the printer both go by this table.
 * All are left associative but the comparisons, which do not associate.
 */
import type { BinaryOperator, Expression } from './ast-expression.ts';

export const PRECEDENCE = {
  or: 1,
  and: 2,
  not: 3,
  is: 4,
  comparison: 5,
  /** BETWEEN, IN, LIKE, ILIKE, SIMILAR TO. */
  membership: 6,
  /** Every operator without a row of its own. */
  other: 7,
  additive: 8,
  multiplicative: 9,
  power: 10,
  timeZone: 11,
  sign: 12,
  /** `::`, subscripts and fields. */
  postfix: 13,
  primary: 14,
} as const;

export const BINARY_PRECEDENCE: Readonly<Record<BinaryOperator, number>> = {
  or: PRECEDENCE.or,
  and: PRECEDENCE.and,
  '=': PRECEDENCE.comparison,
  '<>': PRECEDENCE.comparison,
  '<': PRECEDENCE.comparison,
  '<=': PRECEDENCE.comparison,
  '>': PRECEDENCE.comparison,
  '>=': PRECEDENCE.comparison,
  '~': PRECEDENCE.other,
  '~*': PRECEDENCE.other,
  '!~': PRECEDENCE.other,
  '!~*': PRECEDENCE.other,
  '||': PRECEDENCE.other,
  '->': PRECEDENCE.other,
  '->>': PRECEDENCE.other,
  '#>': PRECEDENCE.other,
  '#>>': PRECEDENCE.other,
  '@>': PRECEDENCE.other,
  '<@': PRECEDENCE.other,
  '?': PRECEDENCE.other,
  '&': PRECEDENCE.other,
  '|': PRECEDENCE.other,
  '#': PRECEDENCE.other,
  '<<': PRECEDENCE.other,
  '>>': PRECEDENCE.other,
  '+': PRECEDENCE.additive,
  '-': PRECEDENCE.additive,
  '*': PRECEDENCE.multiplicative,
  '/': PRECEDENCE.multiplicative,
  '%': PRECEDENCE.multiplicative,
  '^': PRECEDENCE.power,
};

/** How tightly the outermost construct of an expression binds when written out. */
export function precedenceOf(expression: Expression): number {
  switch (expression.tag) {
    case 'binary':
      return BINARY_PRECEDENCE[expression.operator];
    case 'unary':
      if (expression.operator === 'not') return PRECEDENCE.not;
      return expression.operator === '~' ? PRECEDENCE.other : PRECEDENCE.sign;
    case 'is':
    case 'is_distinct':
      return PRECEDENCE.is;
    case 'between':
    case 'in_list':
    case 'in_query':
    case 'like':
      return PRECEDENCE.membership;
    case 'at_time_zone':
      return PRECEDENCE.timeZone;
    case 'subscript':
    case 'slice':
    case 'field':
      return PRECEDENCE.postfix;
    default:
      return PRECEDENCE.primary;
  }
}
