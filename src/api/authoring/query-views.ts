/** What a query declares and writes, as the API shows it. */
import { typeName } from '../../batch/types.ts';
import { DECLARATIONS } from '../../connectors/declarations.ts';
import type { PhysicalGraph } from '../../graph/graph.ts';
import {
  type ProgramTable,
  type TableColumnInfo,
  columnsOfSchema,
  declaredTable,
} from '../../plan/program-tables.ts';
import { parseProgram } from '../../sql/parser.ts';
import type { CheckedQuery } from '../pipelines/planning.ts';
import type { QueryOutput, QueryTable } from './diagnostic-shapes.ts';

const columnView = ({ name, type, required }: TableColumnInfo) => ({
  name,
  type: typeName(type),
  required,
});

const tableView = ({ columns, ...table }: ProgramTable): QueryTable => ({
  ...table,
  columns: columns.map(columnView),
});

/** More are not told of one text. */
const STORED_MAX = 200;

/** The tables of the text, then those stored for all that it does not hide by names of its own. */
export function tableViews({ tables, outside, outsideTables }: CheckedQuery): QueryTable[] {
  const fromOutside = new Set(outside);
  const own = tables.filter(({ name }) => !fromOutside.has(name));
  const taken = new Set(own.map(({ name }) => name));
  const stored = outsideTables
    .filter(({ name }) => !taken.has(name))
    .slice(0, STORED_MAX)
    .flatMap(({ definition }) =>
      parseProgram(definition).program.statements.flatMap((statement) =>
        declaredTable(statement, DECLARATIONS),
      ),
    );
  return [
    ...own.map(tableView),
    ...stored.map((table): QueryTable => ({ ...tableView(table), kind: 'stored', span: null })),
  ];
}

/** Every sink, in the order of the graph. */
export const outputViews = ({ operators }: PhysicalGraph): QueryOutput[] =>
  operators.flatMap(({ spec, schema }) =>
    spec.tag === 'sink'
      ? [
          {
            table: spec.table,
            connector: spec.connector.connector,
            columns: columnsOfSchema(schema).map(columnView),
            updating: spec.updating,
          },
        ]
      : [],
  );
