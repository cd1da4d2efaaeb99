/** The logical plan as an indented tree, sinks first; what several queries read is printed once and referred to. */
import { describeNode, describeSchema, describeSink, printOver } from './describe.ts';
import { formatInterval } from './interval.ts';
import type { LogicalPlan, PlanNode, ScanNode } from './logical.ts';
import { inputsOf } from './nodes.ts';
import { countReaders } from './rewrite.ts';

export function explainLogical(plan: LogicalPlan): string {
  const readers = countReaders(plan);
  const numbers = new Map<PlanNode, number>();
  const lines: string[] = [];
  const print = (node: PlanNode, depth: number): void => {
    const indent = '  '.repeat(depth);
    const known = numbers.get(node);
    if (known !== undefined) {
      lines.push(`${indent}[${known}] again`);
      return;
    }
    let mark = '';
    if ((readers.get(node) ?? 0) > 1) {
      numbers.set(node, numbers.size + 1);
      mark = `[${numbers.size}] `;
    }
    lines.push(`${indent}${mark}${line(node)}`);
    for (const detail of details(node)) lines.push(`${indent}    ${detail}`);
    for (const input of inputsOf(node)) print(input, depth + 1);
  };
  for (const sink of plan.sinks) {
    lines.push(
      `${describeSink(sink)}${sink.input.updating ? ', updating' : ''}: ${describeSchema(sink.schema)}`,
    );
    print(sink.input, 1);
  }
  return `${lines.join('\n')}\n`;
}

function line(node: PlanNode): string {
  const text = describeNode(node);
  return node.tag === 'project' ? `select ${text}` : text;
}

function details(node: PlanNode): string[] {
  if (node.tag !== 'scan') return [];
  return [
    `columns: ${describeSchema(node.schema)}`,
    ...decoded(node),
    ...generated(node),
    ...watermark(node),
  ];
}

/** What is read from the connector, where that is not what the scan gives. */
function decoded(scan: ScanNode): string[] {
  const columns = describeSchema(scan.physical);
  return columns === describeSchema(scan.schema)
    ? []
    : [`decoded: ${columns === '' ? 'nothing' : columns}`];
}

function generated(scan: ScanNode): string[] {
  const made = scan.computed.flatMap((expr, index) =>
    expr.tag === 'column'
      ? []
      : [`${scan.schema[index]?.name} = ${printOver(expr, scan.physical)}`],
  );
  return made.length === 0 ? [] : [`generated: ${made.join(', ')}`];
}

function watermark(scan: ScanNode): string[] {
  const plan = scan.watermark;
  if (plan === null) return ['event time: arrival; watermark: 1 second behind'];
  const idle = plan.idleMs === null ? '' : `; idle after ${formatInterval(plan.idleMs * 1000)}`;
  const advance =
    plan.idleAdvanceMs === null
      ? ''
      : `; advances after ${formatInterval(plan.idleAdvanceMs * 1000)} of silence`;
  return [
    `event time: ${printOver(plan.eventTime, scan.schema)}; watermark: ${printOver(plan.watermark, scan.schema)}${idle}${advance}`,
  ];
}
