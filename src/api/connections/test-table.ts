/** Tries out a table that is not stored: its options, its plan, and whether what it reads is there. */
import { type ErrorReport, reportOf } from '../../base/errors.ts';
import type { ApiServices } from '../services.ts';
import { type CheckedTable, checkTable } from './check.ts';
import type { TestSourceMessage } from './connection-shapes.ts';
import type { Declared } from './table-sql.ts';

/** @param wrong  what is wrong with its options */
export async function* testTable(
  services: ApiServices,
  table: Declared,
  wrong: readonly ErrorReport[],
): AsyncGenerator<TestSourceMessage> {
  yield said('checking the options');
  if (wrong.length > 0) return yield failed(wrong);
  yield said('planning a query over the table');
  let checked: CheckedTable;
  try {
    checked = checkTable(table);
  } catch (error) {
    return yield failed([reportOf(error)]);
  }
  if (checked.errors.length > 0) return yield failed(checked.errors);
  for (const warning of checked.warnings) yield said(`warning: ${warning.message}`);
  const object = await missingObject(services, table);
  if (object !== null) return yield { error: true, done: true, message: object };
  const columns = checked.schema.fields.length;
  const message =
    columns === 0
      ? 'the table can be used; its columns come from the first INSERT'
      : `the table can be used; it has ${columns} ${columns === 1 ? 'column' : 'columns'}`;
  yield { error: false, done: true, message };
}

const said = (message: string): TestSourceMessage => ({ error: false, done: false, message });

const failed = (reports: readonly ErrorReport[]): TestSourceMessage => ({
  error: true,
  done: true,
  message: reports[0]?.message ?? 'something is wrong',
  reports: [...reports],
});

/** The bucket can be looked into on one's own machine only. */
async function missingObject(services: ApiServices, table: Declared): Promise<string | null> {
  const path = table.config['path'];
  const reads = table.connector === 'r2' || table.connector === 'single_file';
  if (services.local === null || table.tableType === 'sink' || !reads) return null;
  if (typeof path !== 'string') return null;
  const found = await services.local.object(path);
  await found?.body.cancel();
  return found === null ? `there is no object "${path}" in the bucket` : null;
}
