/**
 * The page at `/`: pipelines with their state, one pipeline's output as it comes, and a form to create one.
 * Text from the server is only ever set as text, never as markup.
 */

const API = '/api/v1';
const REFRESH_MS = 2000;
/** Rows kept on the page; older ones scroll out for good. */
const ROWS_SHOWN_MAX = 500;

const element = (id) => document.getElementById(id);

/** JSON of a successful answer; throws an Error whose message is what the server's problem document says. */
async function call(path, init) {
  const response = await fetch(API + path, init);
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  const body = isJson ? await response.json() : undefined;
  if (response.ok) return body;
  throw new Error(describeProblem(body) ?? `the server answered ${response.status}`);
}

function describeProblem(body) {
  if (body === undefined) return undefined;
  const first = body.error ?? body.detail ?? body.message ?? body.title;
  const errors = (body.errors ?? []).map(describeSqlError);
  // Of a refused query the first error is that of the document.
  const lines = errors.length > 0 ? errors : [first, body.hint, suggested(body)];
  return lines.filter((line) => typeof line === 'string').join('\n');
}

function describeSqlError({ message, hint, suggestion, span }) {
  const place = span?.start ? `line ${span.start.line}, column ${span.start.column}: ` : '';
  return [`${place}${message}`, hint, suggested({ suggestion })]
    .filter((line) => line !== undefined)
    .join('\n');
}

const suggested = ({ suggestion }) =>
  suggestion === undefined ? undefined : `Instead: ${suggestion}`;

function send(method, body) {
  return {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

function cell(text, className) {
  const td = document.createElement('td');
  td.textContent = text;
  if (className !== undefined) td.className = className;
  return td;
}

function actionButton(pipeline, text, act) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = text;
  button.dataset.action = text;
  button.setAttribute('aria-label', `${text}: ${pipeline.name} (${pipeline.id})`);
  button.addEventListener('click', act);
  return button;
}

/** Asks, acts, and says what came of it. */
async function act(pipeline, question, done, init) {
  if (question !== '' && !window.confirm(question)) return;
  const status = element('action-status');
  try {
    const { warnings = [] } = await call(`/pipelines/${encodeURIComponent(pipeline.id)}`, init);
    status.textContent = [`${pipeline.name}: ${done}`, ...warnings].join('; ');
    status.classList.remove('bad');
  } catch (error) {
    status.textContent = `${pipeline.name}: ${error.message}`;
    status.classList.add('bad');
  }
  await refresh();
}

function stop(pipeline) {
  const question = `Stop ${pipeline.name} (${pipeline.id}) with a checkpoint? It can be started again where it stopped.`;
  return act(pipeline, question, 'stopping', send('PATCH', { stop: 'checkpoint' }));
}

const start = (pipeline) => act(pipeline, '', 'starting', send('PATCH', { stop: 'none' }));

function remove(pipeline) {
  const question = `Delete ${pipeline.name} (${pipeline.id}), its state and the rows of its http tables that were not read? Files it has written to R2 stay.`;
  return act(pipeline, question, 'deleted', { method: 'DELETE' });
}

function actionsCell(pipeline, job) {
  const td = document.createElement('td');
  td.className = 'actions';
  if (job !== undefined)
    td.append(actionButton(pipeline, 'Output', () => showOutput(pipeline, job)));
  const atRest = pipeline.action === 'none';
  if (atRest) td.append(actionButton(pipeline, 'Start', () => start(pipeline)));
  else if (pipeline.action !== null)
    td.append(actionButton(pipeline, 'Stop', () => stop(pipeline)));
  if (atRest) td.append(actionButton(pipeline, 'Delete', () => remove(pipeline)));
  return td;
}

function stateCell(job) {
  const failure = job?.failure_reason;
  const td = cell(job?.state ?? 'unknown', failure ? 'failure' : undefined);
  const words = [failure?.error ?? failure?.message, failure?.detail, failure?.hint];
  for (const text of words.filter((word) => typeof word === 'string')) {
    const line = document.createElement('div');
    line.textContent = text;
    td.append(line);
  }
  return td;
}

function nameCell({ name, id }) {
  const th = document.createElement('th');
  th.scope = 'row';
  const code = document.createElement('code');
  code.textContent = id;
  th.append(name, code);
  return th;
}

function pipelineRow(pipeline, job) {
  const row = document.createElement('tr');
  row.dataset.id = pipeline.id;
  const { rows } = job ?? {};
  row.append(
    nameCell(pipeline),
    stateCell(job),
    cell(job?.generation ?? job?.run_id ?? '–', 'number'),
    cell(job?.epoch ?? '–', 'number'),
    ...['in', 'out', 'errors', 'late'].map((count) => cell(rows?.[count] ?? '–', 'number')),
    actionsCell(pipeline, job),
  );
  return row;
}

/** What the table shows now, so that it is only redrawn (and focus only moved) when something changed. */
let shown = '';

async function refresh() {
  try {
    const { data: pipelines } = await call('/pipelines?limit=100');
    const jobs = await Promise.all(
      pipelines.map(
        async ({ id }) => (await call(`/pipelines/${encodeURIComponent(id)}/jobs`)).data[0],
      ),
    );
    const now = JSON.stringify([pipelines, jobs]);
    element('connection').textContent = '';
    if (now === shown) return;
    shown = now;
    const active = document.activeElement;
    const focused = active?.closest('tr')?.dataset.id;
    const action = active?.dataset.action;
    const rows = pipelines.map((pipeline, index) => pipelineRow(pipeline, jobs[index]));
    element('rows').replaceChildren(...rows);
    element('empty').hidden = pipelines.length > 0;
    sayWhyIdle(pipelines, jobs);
    const row = rows.find(({ dataset }) => dataset.id === focused);
    // The button may be gone, as Stop is once the pipeline stops.
    (
      row?.querySelector(`button[data-action='${action}']`) ?? row?.querySelector('button')
    )?.focus();
  } catch (error) {
    element('connection').textContent = `Not up to date: ${error.message}`;
  }
}

/** The stream that is open, if any, and whose output it is. */
let stream;
let watched;
let lines = [];

/** An output without rows says what it waits for. */
function sayWhyIdle(pipelines, jobs) {
  if (stream === undefined || lines.length > 0) return;
  const job = jobs[pipelines.findIndex(({ id }) => id === watched)];
  if (job !== undefined) element('output-status').textContent = idleReason(job);
}

function idleReason({ state, rows }) {
  if (state !== 'Running') return `No rows yet: the pipeline is ${state}`;
  if ((rows?.in ?? 0) === 0) return 'No rows yet: nothing has come in';
  if (rows.errors > 0) return `No rows yet: ${rows.in} rows came in, ${rows.errors} of them bad`;
  return `No rows yet: ${rows.in} rows came in. A window shows its rows when a later row has moved the watermark past its end`;
}

function closeOutput() {
  stream?.close();
  stream = undefined;
  element('output-section').hidden = true;
}

function addRows(text) {
  const batch = JSON.parse(text);
  const rows = typeof batch.batch === 'string' ? JSON.parse(batch.batch) : batch.batch;
  const pre = element('output');
  const atEnd = pre.scrollHeight - pre.scrollTop - pre.clientHeight < 40;
  if (lines.length === 0)
    element('output-status').textContent = 'Connected; new rows appear at the end';
  lines = [...lines, ...rows.map((row) => JSON.stringify(row))].slice(-ROWS_SHOWN_MAX);
  pre.textContent = lines.join('\n');
  if (atEnd) pre.scrollTop = pre.scrollHeight;
}

function showOutput(pipeline, job) {
  closeOutput();
  watched = pipeline.id;
  lines = [];
  element('output').textContent = '';
  element('output-heading').textContent = `Output of ${pipeline.name}`;
  element('output-section').hidden = false;
  element('output-heading').focus();
  const status = element('output-status');
  status.textContent = idleReason(job);
  const path = `/pipelines/${encodeURIComponent(pipeline.id)}/jobs/${encodeURIComponent(job.id)}/output`;
  stream = new EventSource(API + path);
  stream.addEventListener('open', () => {
    if (lines.length > 0) status.textContent = 'Connected; new rows appear at the end';
  });
  stream.addEventListener('message', (event) => addRows(event.data));
  stream.addEventListener('error', () => {
    const isOver = stream?.readyState === EventSource.CLOSED;
    status.textContent = isOver ? 'No output to follow' : 'Connection lost, trying again';
  });
}

function say(text, isBad) {
  const status = element('create-status');
  status.textContent = text;
  status.classList.toggle('bad', isBad);
}

async function create(event) {
  event.preventDefault();
  const { name, query, parallelism } = Object.fromEntries(new FormData(element('create')));
  try {
    const pipeline = await call(
      '/pipelines',
      send('POST', { name, query, parallelism: Number(parallelism) }),
    );
    say(`Created ${pipeline.name}`, false);
    await refresh();
  } catch (error) {
    say(error.message, true);
  }
}

async function validate() {
  try {
    const { errors = [] } = await call(
      '/pipelines/validate_query',
      send('POST', { query: element('query').value }),
    );
    const found = errors.map(describeSqlError).join('\n');
    say(found === '' ? 'The SQL is valid' : found, found !== '');
  } catch (error) {
    say(error.message, true);
  }
}

element('create').addEventListener('submit', create);
element('validate').addEventListener('click', validate);
element('output-close').addEventListener('click', closeOutput);

/** One refresh after another, and none while nobody looks. */
async function keepRefreshing() {
  if (!document.hidden) await refresh();
  setTimeout(keepRefreshing, REFRESH_MS);
}
await keepRefreshing();
