/** Functions, aggregates and operators for completion: from the registries, overloads of one name together. */
import { constantColumn } from '../../batch/constant-column.ts';
import { valueJson } from '../../batch/value-json.ts';
import { BOOLEAN, INT32, type SqlType, TEXT, decimalType, listType } from '../../batch/types.ts';
import { AGGREGATES } from '../../expr/aggregate-registry.ts';
import { AGGREGATE_ALIASES } from '../../expr/aggregates/declared.ts';
import type { Expr, LiteralValue } from '../../expr/expr.ts';
import type { ArgumentPattern, ScalarFunction } from '../../expr/function-types.ts';
import { printExpr } from '../../expr/print.ts';
import { FUNCTION_ALIASES, FUNCTION_FAMILIES, signatureOf } from '../../expr/registry.ts';
import type { CompletionFunction } from './authoring-shapes.ts';
import { SPECIAL_FUNCTIONS, WRITTEN_EXAMPLES } from './function-docs.ts';

const isCallable = (name: string): boolean => /^[a-z_0-9]+$/.test(name);

const byTarget = (aliases: Readonly<Record<string, string>>): Map<string, string[]> => {
  const others = new Map<string, string[]>();
  for (const [alias, name] of Object.entries(aliases))
    others.set(name, [...(others.get(name) ?? []), alias]);
  return others;
};

/** Everything that can be called or written between values. */
export function functionCatalogue(): CompletionFunction[] {
  return [...scalarFunctions(), ...aggregateFunctions(), ...SPECIAL_FUNCTIONS];
}

const OPERATOR_WORDS = new Set(['not', 'in', 'like', 'ilike']);

function scalarFunctions(): CompletionFunction[] {
  const aliases = byTarget(FUNCTION_ALIASES);
  const byName = new Map<string, { family: string; overloads: ScalarFunction[] }>();
  for (const { family, functions } of FUNCTION_FAMILIES)
    for (const fn of functions) {
      const known = byName.get(fn.name);
      if (known === undefined) byName.set(fn.name, { family, overloads: [fn] });
      else known.overloads.push(fn);
    }
  return [...byName].flatMap(([name, { family, overloads }]) => {
    const isOperator = !isCallable(name) || OPERATOR_WORDS.has(name);
    const others = aliases.get(name) ?? [];
    const entry = scalarEntry(name, family, isOperator ? 'operator' : 'scalar', overloads);
    if (!isOperator) return [others.length === 0 ? entry : { ...entry, aliases: others }];
    // What is an operator here is called by a name as well: `mod(a, b)`.
    const called = others.filter(isCallable).map((alias): CompletionFunction => ({
      ...entry,
      name: alias,
      kind: 'scalar',
      signatures: signaturesAs(alias, overloads),
      example: WRITTEN_EXAMPLES[alias] ?? null,
      doc: `${entry.doc}; the same as ${name}`,
    }));
    return [{ ...entry, name: name.toUpperCase() }, ...called];
  });
}

function bare(fn: ScalarFunction): ScalarFunction {
  const { infix: _, ...rest } = fn;
  return rest;
}

/** Of an operator's other name; one of dates has only the overloads of times. */
function signaturesAs(alias: string, overloads: readonly ScalarFunction[]): string[] {
  const all = unique(overloads.map((fn) => signatureOf({ ...bare(fn), name: alias })));
  return alias.startsWith('date') ? all.filter((each) => /TIME|DATE|INTERVAL/.test(each)) : all;
}

/** As it is written, also where the registry has no words for it. */
function signature(fn: ScalarFunction): string {
  const text = signatureOf(fn);
  const { infix } = fn;
  if (fn.id === 'in') return text.replace(/^in\((.*?), /, '$1 IN (');
  if (infix === undefined || fn.args.length === 2) return text;
  const sign = infix.toUpperCase();
  const args = text.slice(infix.length + 1);
  if (fn.args.length === 1) return sign.startsWith('IS ') ? `${args} ${sign}` : text;
  const [first, second, third] = args.split(', ');
  return `${first} ${sign} ${second} ESCAPE ${third}`;
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

function scalarEntry(
  name: string,
  family: string,
  kind: 'scalar' | 'operator',
  overloads: readonly ScalarFunction[],
): CompletionFunction {
  return {
    name,
    kind,
    category: family,
    signatures: unique(overloads.map(signature)),
    // Overloads for another type say so: the general one is the shortest.
    doc: unique(overloads.map(({ doc }) => doc)).sort((a, b) => weight(a) - weight(b))[0] ?? '',
    example:
      WRITTEN_EXAMPLES[name] ??
      overloads.map(exampleOf).find((example) => example !== null) ??
      null,
  };
}

/** `the same for …` says nothing on its own. */
const weight = (doc: string): number => (doc.startsWith('the same') ? 1 : 0);

function aggregateFunctions(): CompletionFunction[] {
  const aliases = byTarget(AGGREGATE_ALIASES);
  const byName = new Map<string, CompletionFunction>();
  for (const { name, call, doc } of AGGREGATES) {
    const known = byName.get(name);
    if (known !== undefined) {
      known.signatures.push(call);
      known.doc += `; ${call}: ${doc}`;
      continue;
    }
    const others = aliases.get(name);
    byName.set(name, {
      name,
      kind: 'aggregate',
      category: 'aggregate',
      signatures: [call],
      doc,
      example: `SELECT ${call.replace(' ORDER BY …', '')} FROM t`,
      ...(others === undefined ? {} : { aliases: others }),
    });
  }
  return [...byName.values()];
}

/** `upper('a') → 'A'`, from the examples that the tests run; null when its types can not be told. */
function exampleOf(fn: ScalarFunction): string | null {
  const [example] = fn.examples;
  if (example === undefined) return null;
  const args = example.args.map((value, index) =>
    literal(fn.args[index] ?? fn.rest ?? 'any', value),
  );
  const type = fn.result(args.map((arg) => arg.type));
  if (type === null) return null;
  const call: Expr = { tag: 'call', fn: fn.id, args, type };
  const gives = type.tag === 'decimal' ? String(example.gives) : literalText(type, example.gives);
  return `${withLists(call)} → ${gives}`;
}

type Literal = Expr & { tag: 'literal' };

/** What an example's argument looks like: of the pattern's type, or the type of its value. */
function literal(pattern: ArgumentPattern, value: LiteralValue): Literal {
  if (pattern === 'decimal') return decimalLiteral(String(value));
  if (pattern === 'list' || pattern === 'same-list')
    return { tag: 'literal', value, type: listType(INT32) };
  if (pattern === 'element') return { tag: 'literal', value, type: INT32 };
  if (pattern === 'as-text') return { tag: 'literal', value, type: TEXT };
  if (pattern !== 'any' && pattern !== 'each')
    return { tag: 'literal', value, type: { tag: pattern } as SqlType };
  const type = typeof value === 'boolean' ? BOOLEAN : typeof value === 'number' ? INT32 : TEXT;
  return { tag: 'literal', value, type };
}

function decimalLiteral(written: string): Literal {
  const [whole = '', fraction = ''] = written.split('.');
  const digits = (whole + fraction).replace('-', '').length;
  const type = decimalType(Math.max(1, digits), fraction.length);
  return { tag: 'literal', value: BigInt(whole + fraction).toString(), type };
}

/** Lists as SQL writes them: a column's name stands in for each until the rest is printed. */
function withLists(call: Expr & { tag: 'call' }): string {
  const lists: string[] = [];
  const args = call.args.map((arg): Expr => {
    if (arg.tag !== 'literal' || arg.type.tag !== 'list' || arg.value === null) return arg;
    lists.push(literalText(arg.type, arg.value));
    return { tag: 'column', index: lists.length - 1, type: arg.type };
  });
  return printExpr({ ...call, args }, lists);
}

function literalText(type: SqlType, value: LiteralValue): string {
  if (value === null) return 'NULL';
  if (type.tag !== 'list') return printExpr({ tag: 'literal', value, type }, []);
  return `ARRAY${valueJson(constantColumn(type, value, 1), 0).replaceAll(',', ', ')}`;
}
