/** `npm run example:flights`: the walk of examples/flights, told on the terminal. */
import { parseArgs } from 'node:util';
import { type FeedEvent, type FeedOptions, feedFlights, type FeedResult } from './feed.ts';
import type { HourlyDelays } from './data.ts';

const USAGE = `npm run example:flights -- [--url URL] [--rows N] [--rate N] [--parallelism N] [--fresh]
  --url URL         where Thalweg listens (default http://127.0.0.1:8787)
  --rows N          flights to send, at most 20000 (default 20000)
  --rate N          rows a second (default 2500)
  --parallelism N   subtasks of every operator (default 2)
  --fresh           create a new pipeline even if one of an earlier walk runs`;

const LIVE_LINES_A_SECOND = 4;

function wholeNumber(name: string, text: string, most: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return value;
  throw new Error(`--${name} ${text} is not a whole number from 1 to ${most}\n${USAGE}`);
}

const show = (line: string): void => void process.stdout.write(`${line}\n`);
const count = (value: number): string => value.toLocaleString('en-US');

function describe({ origin, hour, flights, averageDelay, worstDelay }: HourlyDelays): string {
  const when = new Date(hour).toISOString().slice(0, 16).replace('T', ' ');
  const many = `${flights} flight${flights === 1 ? '' : 's'}`;
  return `  live   ${when}  ${origin}  ${many}, ${averageDelay.toFixed(1)} min late on average, ${worstDelay} at worst`;
}

/** Shows some of the live rows and all of the rest. */
function reporter(): (event: FeedEvent) => void {
  let shownAt = 0;
  let seen = 0;
  let sentShown = 0;
  return (event) => {
    switch (event.tag) {
      case 'pipeline':
        show(
          `${event.created ? 'created' : 'going on with'} pipeline ${event.id}, which writes to ${event.path}/ in R2`,
        );
        return;
      case 'sent':
        if (event.rows - sentShown < event.of / 10 && event.rows !== event.of) return;
        sentShown = event.rows;
        show(
          `sent     ${count(event.rows)} of ${count(event.of)} flights${event.replayed ? ' (known already: same Idempotency-Key)' : ''}`,
        );
        return;
      case 'live': {
        seen += event.rows.length;
        const busiest = event.rows.reduce(
          (best, row) => (row.flights > best.flights ? row : best),
          event.rows[0] as HourlyDelays,
        );
        if (event.rows.length === 0 || Date.now() - shownAt < 1000 / LIVE_LINES_A_SECOND) return;
        shownAt = Date.now();
        show(`${describe(busiest)}  (row ${count(seen)})`);
        return;
      }
      case 'committed':
        show(
          `commit   epoch ${event.epoch}: ${count(event.rows)} of ${count(event.of)} rows are in R2`,
        );
    }
  };
}

function conclude(result: FeedResult, url: string): boolean {
  const { comparison, files } = result;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  show(
    `\n${count(files.length)} committed files, ${count(bytes)} bytes, under ${result.path}/ in R2, such as`,
  );
  const key = encodeURIComponent(files[0]?.key ?? '');
  show(`  ${url}/api/v1/local/objects/content?key=${key}`);
  for (const line of comparison.missing.slice(0, 5)) show(`  missing     ${line}`);
  for (const line of comparison.unexpected.slice(0, 5)) show(`  unexpected  ${line}`);
  show(
    `committed rows ${count(result.committedRows)}: ${count(comparison.same)} equal to the rows computed without Thalweg, ` +
      `${count(comparison.missing.length)} missing, ${count(comparison.unexpected.length)} unexpected`,
  );
  const exact =
    comparison.missing.length === 0 &&
    comparison.unexpected.length === 0 &&
    result.rowsCounted === result.rowsSent;
  show(
    `rows in ${count(result.rowsSent)} ${exact ? '=' : '≠'} rows out ${count(result.rowsCounted)} (flights counted in the committed rows)`,
  );
  return exact;
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        url: { type: 'string', default: 'http://127.0.0.1:8787' },
        rows: { type: 'string', default: '20000' },
        rate: { type: 'string', default: '2500' },
        parallelism: { type: 'string', default: '2' },
        fresh: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${USAGE}`);
  }
}

async function main(): Promise<void> {
  const values = readArguments();
  if (values.help) return show(USAGE);
  const url = values.url.replace(/\/+$/, '');
  const options: FeedOptions = {
    rows: wholeNumber('rows', values.rows, 20_000),
    rate: wholeNumber('rate', values.rate, 1_000_000),
    parallelism: wholeNumber('parallelism', values.parallelism, 64),
    fresh: values.fresh,
  };
  try {
    await fetch(`${url}/api/v1/ping`);
  } catch {
    throw new Error(
      `nothing answers at ${url}: start it with "npm run dev", and give its address with --url if it is another`,
    );
  }
  const result = await feedFlights(
    (path, init) => fetch(`${url}${path}`, init),
    options,
    reporter(),
  );
  if (result === null) {
    show(
      '\nAll rows are sent. This is no Thalweg on your machine, so its files cannot be read and compared from here.',
    );
    return;
  }
  if (!conclude(result, url)) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
