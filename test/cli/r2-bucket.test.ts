/** The reader of buckets on R2 against a server that misbehaves; `test/workerd/verify-r2.test.ts` has one that does not. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { EngineError } from '../../src/base/errors.ts';
import { r2AccessOf, r2Reader, type R2ReaderOptions } from '../../src/cli/r2-bucket.ts';
import type { ObjectReader } from '../../src/cli/object-reader.ts';

const KEYS = {
  R2_ACCESS_KEY_ID: 'the-key-id-of-nobody',
  R2_SECRET_ACCESS_KEY: 'the-secret-of-nobody',
};
const ACCOUNT = { R2_ACCOUNT_ID: '0123456789abcdef0123456789ABCDEF' };

type Reply = { status: number; body?: string } | 'hang up' | 'silence';

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = null;
});

/** A reader of the bucket `some-bucket` at a server that gives these replies, the last one again and again. */
async function readerOf(
  replies: Reply[],
  options: R2ReaderOptions = {},
): Promise<{ reader: ObjectReader; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  server = createServer((request, response) => {
    requests.push(request);
    const reply = replies[Math.min(requests.length, replies.length) - 1]!;
    if (reply === 'hang up') request.socket.destroy();
    else if (reply !== 'silence') response.writeHead(reply.status).end(reply.body ?? '');
  });
  await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const access = r2AccessOf('r2://some-bucket', `http://127.0.0.1:${port}/s3/`, KEYS);
  return { reader: r2Reader(access, { firstWaitMs: 1, timeoutMs: 5_000, ...options }), requests };
}

const listing = (keys: string[], truncated: boolean, more = ''): Reply => ({
  status: 200,
  body: `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>${truncated}</IsTruncated>${keys
    .map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`)
    .join('')}${more}</ListBucketResult>`,
});

const failure = (status: number, code: string, message = 'No.'): Reply => ({
  status,
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`,
});

async function errorOf(promise: Promise<unknown>): Promise<EngineError> {
  const thrown = await promise.then(
    (value) => expect.fail(`answered ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(EngineError);
  const said = JSON.stringify((thrown as EngineError).report);
  for (const key of Object.values(KEYS)) expect(said).not.toContain(key);
  return thrown as EngineError;
}

describe('the address of a bucket', () => {
  test('is built from the account, or is below the endpoint', () => {
    const environment = { ...KEYS, ...ACCOUNT };
    expect(r2AccessOf('r2://some-bucket', null, environment)).toMatchObject({
      url: 'https://0123456789abcdef0123456789abcdef.r2.cloudflarestorage.com/some-bucket',
      place: 'the bucket some-bucket on R2',
      accessKeyId: 'the-key-id-of-nobody',
      secretAccessKey: 'the-secret-of-nobody',
    });
    expect(r2AccessOf('r2://some-bucket/', 'http://127.0.0.1:1/a/b/', KEYS).url).toBe(
      'http://127.0.0.1:1/a/b/some-bucket',
    );
  });

  test('needs all variables, and says which are missing', () => {
    const said = (endpoint: string | null, environment: Record<string, string>): string => {
      try {
        r2AccessOf('r2://some-bucket', endpoint, environment);
      } catch (error) {
        return `${(error as EngineError).code} ${(error as EngineError).message}`;
      }
      return 'nothing';
    };
    expect(said(null, {})).toBe(
      'MISSING_OPTION to read r2://some-bucket, set the environment variables R2_ACCOUNT_ID, R2_ACCESS_KEY_ID, R2_SECRET_ACCESS_KEY',
    );
    expect(said('http://127.0.0.1:1', { ...KEYS, R2_SECRET_ACCESS_KEY: ' ' })).toBe(
      'MISSING_OPTION to read r2://some-bucket, set the environment variable R2_SECRET_ACCESS_KEY',
    );
    const broken = said(null, { ...ACCOUNT, ...KEYS, R2_ACCESS_KEY_ID: 'hid\nden' });
    expect(broken).toBe('INVALID_OPTION the environment variable R2_ACCESS_KEY_ID holds no R2 key');
    expect(said(null, { ...KEYS, R2_ACCOUNT_ID: 'me' })).toContain('not the id of an account');
    for (const endpoint of ['here', 'ftp://a.test', 'https://me:pw@a.test', 'https://a.test/?x'])
      expect(said(endpoint, KEYS), endpoint).toMatch(/^INVALID_OPTION --endpoint is not/);
    for (const wrong of ['r2://', 'r2://b', 'r2://some-bucket/folder', 'r2://Some', 'r2://a?b=1'])
      expect(() => r2AccessOf(wrong, null, { ...KEYS, ...ACCOUNT }), wrong).toThrow('no bucket');
  });
});

describe('a reader of a bucket on R2', () => {
  test('signs its requests, and never sends the secret', async () => {
    const { reader, requests } = await readerOf([listing([], false), { status: 200, body: 'b' }]);
    await reader.list('a b/', 'a b/ü');
    await reader.get('a b/(1)+.x');
    expect(requests.map(({ url }) => url)).toEqual([
      '/s3/some-bucket?list-type=2&encoding-type=url&max-keys=1000&prefix=a%20b%2F&start-after=a%20b%2F%C3%BC',
      '/s3/some-bucket/a%20b/%281%29%2B.x',
    ]);
    for (const { method, headers } of requests) {
      expect(method).toBe('GET');
      expect(headers['x-amz-date']).toMatch(/^\d{8}T\d{6}Z$/);
      expect(headers.authorization).toMatch(
        /^AWS4-HMAC-SHA256 Credential=the-key-id-of-nobody\/\d{8}\/us-east-1\/s3\/aws4_request, SignedHeaders=host;\S*x-amz-date\S*, Signature=[0-9a-f]{64}$/,
      );
      expect(JSON.stringify(headers)).not.toContain(KEYS.R2_SECRET_ACCESS_KEY);
    }
  });

  test('tells missing objects from a missing bucket and from a server that knows nothing', async () => {
    const { reader } = await readerOf([
      failure(404, 'NoSuchKey'),
      failure(404, 'NoSuchBucket'),
      { status: 404, body: 'not here' },
      { status: 301 },
    ]);
    expect(await reader.get('a')).toBeNull();
    expect((await errorOf(reader.get('a'))).message).toMatch(
      /^there is no such bucket: the bucket some-bucket at 127/,
    );
    expect((await errorOf(reader.get('a'))).code).toBe('INVALID_OPTION');
    expect((await errorOf(reader.get('a'))).message).toMatch(/answers 301$/);
    expect((await errorOf(reader.get('a/../b'))).code).toBe('UNSUPPORTED');
  });

  test('says that access is denied without asking again, and not what keys it has', async () => {
    const { reader, requests } = await readerOf([
      failure(403, 'SignatureDoesNotMatch', `of ${KEYS.R2_ACCESS_KEY_ID}.`),
      failure(401, 'Unauthorized'),
      failure(403, 'RequestTimeTooSkewed'),
    ]);
    const first = await errorOf(reader.list('', ''));
    expect(first.code).toBe('ACCESS_DENIED');
    expect(first.report.detail).toBe('The answer was 403 SignatureDoesNotMatch (of …).');
    expect((await errorOf(reader.get('a'))).code).toBe('ACCESS_DENIED');
    expect((await errorOf(reader.get('a'))).report.hint).toContain('clock');
    expect(requests).toHaveLength(3);
  });

  test('asks again when the server is busy or the connection is lost, and gives up in the end', async () => {
    const good = await readerOf([
      failure(503, 'SlowDown'),
      { status: 429 },
      'hang up',
      { status: 200, body: 'at last' },
    ]);
    expect(new TextDecoder().decode((await good.reader.get('a'))!)).toBe('at last');
    expect(good.requests).toHaveLength(4);

    server!.close();
    const bad = await readerOf([failure(500, 'InternalError', `about ${KEYS.R2_ACCESS_KEY_ID}`)]);
    const gaveUp = await errorOf(bad.reader.get('a'));
    expect(gaveUp.code).toBe('STORE_FAILED');
    expect(gaveUp.message).toMatch(/in 5 attempts: it answered 500 InternalError \(about …\)$/);
    expect(bad.requests).toHaveLength(5);
  });

  test('does not say the id of the account, which is part of the address', async () => {
    const access = r2AccessOf('r2://some-bucket', null, { ...KEYS, ...ACCOUNT });
    const host = new URL(access.url).host;
    await readerOf([failure(500, 'InternalError', `at ${host}`)]);
    const { port } = server!.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const { message } = await errorOf(r2Reader({ ...access, url }, { attemptsMax: 1 }).get('a'));
    expect(message).toBe(
      'the bucket some-bucket on R2 could not be read in 1 attempts: it answered 500 InternalError (at ….r2.cloudflarestorage.com)',
    );
  });

  test('does not wait for ever, neither for a silent server nor for one that is not there', async () => {
    const silent = await readerOf(['silence'], { timeoutMs: 30, attemptsMax: 2 });
    expect((await errorOf(silent.reader.list('', ''))).message).toMatch(/2 attempts: .*timeout/);
    server!.closeAllConnections();
    await new Promise((done) => server!.close(done));
    const gone = await errorOf(silent.reader.list('', ''));
    expect(gone.code).toBe('STORE_FAILED');
    expect(gone.message).toContain('ECONNREFUSED');
  });

  test('goes on behind pages without keys, with the token', async () => {
    const token = '<NextContinuationToken>a/b+c&amp;d==</NextContinuationToken>';
    const { reader, requests } = await readerOf([listing([], true, token), listing(['k'], true)]);
    expect(await reader.list('', 'j')).toEqual({ keys: ['k'], truncated: true });
    expect(requests[1]!.url).toContain('&start-after=j&continuation-token=a%2Fb%2Bc%26d%3D%3D');
    const endless = await readerOf([listing([], true, token)]);
    expect((await errorOf(endless.reader.list('', ''))).message).toContain('on and on');
    expect(endless.requests).toHaveLength(100);
  });

  test('reads keys as they were, url-encoded or as XML', async () => {
    const { reader } = await readerOf([
      listing(['a+b%2Bc%25%26', '%C3%A4%0A'], false, '<EncodingType>url</EncodingType>'),
      listing(['a+b%2B&amp;amp;&#38;&#x26;', 'ä'], false),
    ]);
    expect((await reader.list('', '')).keys).toEqual(['a b+c%&', 'ä\n']);
    expect((await reader.list('', '')).keys).toEqual(['a+b%2B&amp;&&', 'ä']);
  });

  test('does not take for a listing what is none', async () => {
    const wrong: Reply[] = [
      listing(['b', 'a'], false),
      listing(['a', 'a'], false),
      listing(['0'], false),
      { status: 200, body: '<html>Welcome</html>' },
      { status: 200 },
    ];
    const { reader } = await readerOf(wrong);
    for (const reply of wrong)
      expect((await errorOf(reader.list('', '0'))).code, JSON.stringify(reply)).toBe(
        'INVALID_OPTION',
      );
    const outside = await readerOf([listing(['q'], false)]);
    expect((await errorOf(outside.reader.list('p', ''))).message).toContain('other keys');
  });
});
