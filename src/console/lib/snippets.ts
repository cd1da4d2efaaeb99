/** Ready calls that send rows to an http table, in the languages people have at hand. */
export type Snippet = { name: string; code: string };

export function ingestSnippets(url: string, row: string): Snippet[] {
  const key = 'batch-1';
  return [
    {
      name: 'curl',
      code: [
        `curl -X POST '${url}' \\`,
        `  -H 'content-type: application/x-ndjson' \\`,
        `  -H 'idempotency-key: ${key}' \\`,
        `  --data-binary '${row.replaceAll("'", `'\\''`)}'`,
      ].join('\n'),
    },
    {
      name: 'JavaScript',
      code: [
        `const answer = await fetch(${JSON.stringify(url)}, {`,
        `  method: 'POST',`,
        `  headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': '${key}' },`,
        `  body: ${JSON.stringify(row)},`,
        `});`,
        `if (answer.status === 429) {`,
        `  // Too fast: wait as long as retry-after says, and send the same rows with the same key.`,
        `}`,
        `console.log(await answer.json());`,
      ].join('\n'),
    },
    {
      name: 'Python',
      code: [
        `import json, urllib.request`,
        ``,
        `request = urllib.request.Request(`,
        `    ${JSON.stringify(url)},`,
        `    data=${JSON.stringify(row)}.encode(),`,
        `    headers={"content-type": "application/x-ndjson", "idempotency-key": "${key}"},`,
        `)`,
        `print(json.load(urllib.request.urlopen(request)))`,
      ].join('\n'),
    },
  ];
}

/** The address that rows of a table are posted to; before a pipeline exists its id is a hole. */
export const ingestUrl = (origin: string, pipelineId: string | null, table: string): string =>
  `${origin}/api/v1/pipelines/${pipelineId ?? 'PIPELINE_ID'}/tables/${encodeURIComponent(table)}/rows`;
