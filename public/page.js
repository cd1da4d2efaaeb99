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
  const lines = [first, body.hint, body.suggestion, ...(body.errors ?? []).map(describeSqlError)];
  return lines.filter((line) => typeof line === 'string').join('\n');
}

function describeSqlError({ message, hint, suggestion, span }) {
  const place = span?.start ? `line ${span.start.line}, column ${span.start.column}: ` : '';
  return [`${place}${message}`, hint, suggestion].filter((line) => line !== undefined).join('\n');
}

function post(body) {
  return {
    method: 'POST',
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

function outputButton(pipeline, job) {
  const td = document.createElement('td');
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Show';
  button.setAttribute('aria-label', `Show the output of ${pipeline.name}`);
  button.addEventListener('click', () => showOutput(pipeline, job));
  td.append(button);
  return td;
}

function pipelineRow(pipeline, job) {
  const row = document.createElement('tr');
  row.dataset.id = pipeline.id;
  const name = document.createElement('th');
  name.scope = 'row';
  name.textContent = pipeline.name;
  const failure = job?.failure_reason ?? job?.failure;
  const reason = failure ? `: ${failure.error ?? failure.message ?? failure}` : '';
  row.append(
    name,
    cell((job?.state ?? 'unknown') + reason, failure ? 'failure' : undefined),
    cell(job?.generation ?? job?.run_id ?? '–', 'number'),
    cell(job?.epoch ?? '–', 'number'),
    job === undefined ? cell('') : outputButton(pipeline, job),
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
    const focused = document.activeElement?.closest('tr')?.dataset.id;
    const rows = pipelines.map((pipeline, index) => pipelineRow(pipeline, jobs[index]));
    element('rows').replaceChildren(...rows);
    element('empty').hidden = pipelines.length > 0;
    rows
      .find((row) => row.dataset.id === focused)
      ?.querySelector('button')
      ?.focus();
  } catch (error) {
    element('connection').textContent = `Not up to date: ${error.message}`;
  }
}

/** The stream that is open, if any. */
let stream;
let lines = [];

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
  lines = [...lines, ...rows.map((row) => JSON.stringify(row))].slice(-ROWS_SHOWN_MAX);
  pre.textContent = lines.join('\n');
  if (atEnd) pre.scrollTop = pre.scrollHeight;
}

function showOutput(pipeline, job) {
  closeOutput();
  lines = [];
  element('output').textContent = '';
  element('output-heading').textContent = `Output of ${pipeline.name}`;
  element('output-section').hidden = false;
  element('output-heading').focus();
  const status = element('output-status');
  status.textContent = 'Waiting for rows';
  const path = `/pipelines/${encodeURIComponent(pipeline.id)}/jobs/${encodeURIComponent(job.id)}/output`;
  stream = new EventSource(API + path);
  stream.addEventListener('open', () => {
    status.textContent = 'Connected; new rows appear at the end';
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
      post({ name, query, parallelism: Number(parallelism) }),
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
      post({ query: element('query').value }),
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
