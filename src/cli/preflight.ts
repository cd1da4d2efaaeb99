/**
 * What `thalweg run` can say about a SQL file before anything is started: whether it plans, whether the files its
 * `single_file` tables read are there, and whether one it writes is somebody else's.
 */
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { EngineError, type ErrorReport, type Span } from '../base/errors.ts';
import { DECLARATIONS } from '../connectors/declarations.ts';
import { planSql, type SqlPlan } from '../graph/plan-sql.ts';
import { parseProgram } from '../sql/parser.ts';

/** Plans as the Worker will. Bare SELECTs are printed. */
export const planForRun = (query: string, parallelism: number): SqlPlan =>
  planSql(query, DECLARATIONS, { defaultSink: 'stdout', parallelism, explain: true });

type Found = 'absent' | 'file' | 'directory' | 'special' | 'unreadable';

async function lookAt(path: string): Promise<Found> {
  try {
    const status = await stat(path);
    if (status.isDirectory()) return 'directory';
    if (!status.isFile()) return 'special';
    await access(path, constants.R_OK);
    return 'file';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'unreadable' : 'absent';
  }
}

/** Where the file really is, also when it is reached by a link; of a file that does not exist, where it would be. */
async function placeOf(path: string): Promise<string> {
  return await realpath(path).catch(() => path);
}

/** The place of the value of `path` of a table, in the text it was planned from. */
function placesOfPaths(query: string): (table: string) => { span?: Span } {
  const spans = new Map<string, Span>();
  for (const statement of parseProgram(query).program.statements) {
    if (statement.tag !== 'create_table') continue;
    const option = statement.options.find(({ key }) => key.toLowerCase() === 'path');
    spans.set(statement.name.name, option?.value.span ?? statement.name.span);
  }
  return (table) => {
    const span = spans.get(table);
    return span === undefined ? {} : { span };
  };
}

const WHY: Record<Exclude<Found, 'file'>, string> = {
  absent: 'there is no such file',
  directory: 'it is a directory',
  special: 'it is not a plain file',
  unreadable: 'it can not be read',
};

type FileTable = { table: string; path: string };

const fileTables = (
  plan: SqlPlan,
): { sources: readonly FileTable[]; sinks: readonly FileTable[] } => {
  const filesOf = (
    operators: SqlPlan['sources'] | SqlPlan['sinks'],
    connectors: readonly string[],
  ): FileTable[] =>
    operators.flatMap(({ spec }) => {
      const path = spec.connector.options['path'];
      return connectors.includes(spec.connector.connector) && typeof path === 'string'
        ? [{ table: spec.table, path }]
        : [];
    });
  // There is no bucket of the user's here: an r2 source reads a file as well.
  return {
    sources: filesOf(plan.sources, ['single_file', 'r2']),
    sinks: filesOf(plan.sinks, ['single_file']),
  };
};

/** Tables whose output goes to the bucket of the run's state. */
export const bucketSinks = (plan: SqlPlan): string[] =>
  plan.sinks.flatMap(({ spec }) => (spec.connector.connector === 'r2' ? [spec.table] : []));

/** Absolute paths of the files the program writes. */
export const filesWritten = (plan: SqlPlan): string[] =>
  fileTables(plan).sinks.map(({ path }) => resolve(path));

/**
 * What the file system has against running the program here.
 *
 * @param mine  whether an existing file may be replaced: it was written by the same state, or the user said so
 */
export async function checkFiles(
  query: string,
  plan: SqlPlan,
  mine: (path: string) => boolean,
): Promise<ErrorReport[]> {
  const { sources, sinks } = fileTables(plan);
  const spanOf = placesOfPaths(query);
  const errors: ErrorReport[] = [];
  const read = new Map<string, string>();
  for (const { table, path } of sources) {
    const absolute = resolve(path);
    const found = await lookAt(absolute);
    read.set(await placeOf(absolute), table);
    if (found !== 'file')
      errors.push(
        new EngineError(
          'SOURCE_MISSING',
          `table "${table}" can not read '${path}': ${WHY[found]}`,
          {
            detail: `Looked at ${absolute}.`,
            hint: 'relative paths count from the directory the command is called in',
            ...spanOf(table),
          },
        ).report,
      );
  }
  for (const { table, path } of sinks) {
    const absolute = resolve(path);
    const found = await lookAt(absolute);
    const reader = read.get(await placeOf(absolute));
    const refuse = (message: string, hint: string): void =>
      void errors.push(new EngineError('INVALID_SINK', message, { hint, ...spanOf(table) }).report);
    if (reader !== undefined)
      refuse(
        `"${table}" would overwrite '${path}', which "${reader}" reads`,
        'give the sink a path of its own',
      );
    else if (found === 'directory' || found === 'special')
      refuse(`"${table}" can not write '${path}': ${WHY[found]}`, 'choose the path of a file');
    else if (found !== 'absent' && !mine(absolute))
      refuse(
        `"${table}" would overwrite '${path}', which exists already`,
        'choose another path, or pass --overwrite to replace the file',
      );
  }
  return errors;
}

/** Refuses sources that nobody can feed here; tells which never end. */
export function checkSources(
  query: string,
  plan: SqlPlan,
): { errors: ErrorReport[]; endless: string[] } {
  const tables = new Map(
    parseProgram(query).program.statements.flatMap((statement) =>
      statement.tag === 'create_table' ? [[statement.name.name, statement] as const] : [],
    ),
  );
  const errors: ErrorReport[] = [];
  const endless = new Set<string>();
  for (const { spec } of plan.sources) {
    const { connector, options } = spec.connector;
    if (connector === 'http') {
      const statement = tables.get(spec.table);
      const option = statement?.options.find(({ key }) => key.toLowerCase() === 'connector');
      const span = option?.value.span ?? statement?.name.span;
      errors.push(
        new EngineError(
          'UNSUPPORTED',
          `nobody can post rows to "${spec.table}" during thalweg run`,
          {
            hint: "start `npm run dev`, create the pipeline there and post to its table; or read a file with connector = 'single_file'",
            ...(span === undefined ? {} : { span }),
          },
        ).report,
      );
    }
    const bound =
      connector === 'impulse' ? 'message_count' : connector === 'nexmark' ? 'events' : null;
    if (bound !== null && options[bound] === undefined) endless.add(spec.table);
  }
  return { errors, endless: [...endless] };
}
