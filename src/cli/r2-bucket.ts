/**
 * A bucket on R2, read over its S3 API: what `thalweg verify r2://BUCKET` opens.
 *
 * Account and keys come from environment variables and are never said again, whatever a server answers. Nothing is written:
 * a key that may only read objects and list them will do. "Missing" is only what the store calls so; every other 404 is an error.
 */
import { AwsClient } from 'aws4fetch';
import { EngineError } from '../base/errors.ts';
import type { ObjectReader } from './object-reader.ts';

export type R2Access = {
  /** The bucket's, without a slash at its end. */
  url: string;
  /** The bucket as messages call it. */
  place: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** What no message may contain. */
  hidden: readonly string[];
};

export type R2ReaderOptions = {
  /** How often a request is made until an answer counts. */
  attemptsMax?: number;
  /** Wait before the second attempt; each further one waits twice as long. */
  firstWaitMs?: number;
  /** For headers and body of one attempt. */
  timeoutMs?: number;
  /** At most 1,000. */
  pageKeysMax?: number;
};

const PROTOCOL = 'r2://';
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const ACCOUNT_ID = /^[0-9a-f]{32}$/i;
/** What may stand in an HTTP header: another character would come back in an error of fetch, key and all. */
const HEADER_TOKEN = /^[\x21-\x7e]+$/;

/** Pages without a key that a listing may have in a row; S3 allows them, and a broken server could go on for ever. */
const EMPTY_PAGES_MAX = 100;

const KEYS_HINT =
  'Create an R2 API token with "Object Read only" for the bucket, in the dashboard under R2, and set R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY to what it shows.';

export const isR2Address = (bucket: string): boolean => bucket.startsWith(PROTOCOL);

/**
 * Where the bucket is and with what it is read.
 *
 * Throws INVALID_OPTION and MISSING_OPTION; no message contains a value of the environment.
 */
export function r2AccessOf(
  address: string,
  endpoint: string | null,
  environment: Readonly<Record<string, string | undefined>>,
): R2Access {
  const bucket = address.slice(PROTOCOL.length).replace(/\/$/, '');
  if (!BUCKET_NAME.test(bucket)) {
    throw new EngineError('INVALID_OPTION', `${address} names no bucket`, {
      hint: 'Write r2:// and the name of the bucket, as wrangler.toml has it: 3 to 63 lower-case letters, digits and hyphens.',
    });
  }
  const value = (name: string): string | null => environment[name]?.trim() || null;
  const missing: string[] = [];
  const needed = (name: string): string => {
    const found = value(name);
    if (found === null) missing.push(name);
    else if (!HEADER_TOKEN.test(found)) {
      throw new EngineError('INVALID_OPTION', `the environment variable ${name} holds no R2 key`, {
        hint: 'A key has letters and digits only.',
      });
    }
    return found ?? '';
  };
  const base = endpoint === null ? null : endpointOf(endpoint);
  const accountId = base === null ? needed('R2_ACCOUNT_ID') : '';
  const accessKeyId = needed('R2_ACCESS_KEY_ID');
  const secretAccessKey = needed('R2_SECRET_ACCESS_KEY');
  if (missing.length > 0) {
    throw new EngineError(
      'MISSING_OPTION',
      `to read ${address}, set the environment variable${missing.length > 1 ? 's' : ''} ${missing.join(', ')}`,
      {
        hint: missing.includes('R2_ACCOUNT_ID')
          ? `${KEYS_HINT} R2_ACCOUNT_ID is the account's id; --endpoint URL instead says where the S3 API is.`
          : KEYS_HINT,
      },
    );
  }
  if (base === null && !ACCOUNT_ID.test(accountId)) {
    throw new EngineError('INVALID_OPTION', 'R2_ACCOUNT_ID is not the id of an account', {
      hint: 'An account id has 32 hexadecimal digits; `npx wrangler whoami` prints it.',
    });
  }
  const keys = { accessKeyId, secretAccessKey };
  if (base !== null) {
    const place = `the bucket ${bucket} at ${new URL(base).host}`;
    const hidden = [secretAccessKey, accessKeyId];
    return { url: `${base}/${bucket}`, place, ...keys, hidden };
  }
  const host = `${accountId.toLowerCase()}.r2.cloudflarestorage.com`;
  const place = `the bucket ${bucket} on R2`;
  const hidden = [secretAccessKey, accessKeyId, accountId, accountId.toLowerCase()];
  return { url: `https://${host}/${bucket}`, place, ...keys, hidden };
}

function endpointOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const plain = url !== null && url.search === '' && url.hash === '' && url.username === '';
  if (url === null || !plain || !/^https?:$/.test(url.protocol)) {
    throw new EngineError('INVALID_OPTION', '--endpoint is not the URL of an S3 API', {
      hint: 'Write for example https://ACCOUNT_ID.eu.r2.cloudflarestorage.com, for a bucket in the jurisdiction of the EU.',
    });
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/**
 * Reads the bucket. Its calls throw ACCESS_DENIED, NOT_FOUND for the bucket, and STORE_FAILED when no attempt got an answer
 * that counts.
 */
export function r2Reader(access: R2Access, options: R2ReaderOptions = {}): ObjectReader {
  return new R2Reader(access, options);
}

type Answer = { status: number; body: Uint8Array };

class R2Reader implements ObjectReader {
  readonly #access: R2Access;
  readonly #client: AwsClient;
  readonly #options: Required<R2ReaderOptions>;

  constructor(access: R2Access, options: R2ReaderOptions) {
    const { accessKeyId, secretAccessKey } = access;
    this.#access = access;
    this.#client = new AwsClient({ accessKeyId, secretAccessKey, service: 's3', retries: 0 });
    this.#options = {
      attemptsMax: 5,
      firstWaitMs: 250,
      timeoutMs: 60_000,
      pageKeysMax: 1_000,
      ...options,
    };
  }

  async list(prefix: string, after: string): Promise<{ keys: string[]; truncated: boolean }> {
    let token: string | null = null;
    for (let pages = 0; pages < EMPTY_PAGES_MAX; pages++) {
      const page = await this.#page(prefix, after, token);
      if (page.keys.length > 0) this.#checkPage(page.keys, prefix, after);
      if (page.keys.length > 0 || !page.truncated)
        return { keys: page.keys, truncated: page.truncated };
      if (page.next === null) break;
      token = page.next;
    }
    throw this.#notS3('has listings that go on and on without a key');
  }

  async get(key: string): Promise<Uint8Array | null> {
    if (key.split('/').some((segment) => segment === '.' || segment === '..')) {
      // A URL cannot hold such a path: it would silently become that of another object.
      throw new EngineError('UNSUPPORTED', `the key ${key} cannot be asked for over HTTP`);
    }
    const { status, body } = await this.#request(`/${key.split('/').map(encoded).join('/')}`);
    if (status === 200) return body;
    if (status === 404 && errorOf(body).code === 'NoSuchKey') return null;
    throw this.#refusal(status, body);
  }

  async #page(
    prefix: string,
    after: string,
    token: string | null,
  ): Promise<{ keys: string[]; truncated: boolean; next: string | null }> {
    const query = {
      'list-type': '2',
      // Keys may hold characters that XML cannot.
      'encoding-type': 'url',
      'max-keys': String(this.#options.pageKeysMax),
      prefix,
      ...(after === '' ? {} : { 'start-after': after }),
      ...(token === null ? {} : { 'continuation-token': token }),
    };
    const search = Object.entries(query).map(([name, value]) => `${name}=${encoded(value)}`);
    const { status, body } = await this.#request(`?${search.join('&')}`);
    if (status !== 200) throw this.#refusal(status, body);
    const xml = new TextDecoder().decode(body);
    const truncated = elementOf(xml, 'IsTruncated');
    if (!xml.includes('<ListBucketResult') || truncated === null)
      throw this.#notS3('does not answer with a listing');
    const plain = elementOf(xml, 'EncodingType') === 'url' ? decoded : (text: string) => text;
    const keys = [...xml.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) =>
      plain(unescaped(key)),
    );
    return {
      keys,
      truncated: truncated === 'true',
      next: elementOf(xml, 'NextContinuationToken'),
    };
  }

  /** A server that does not know `start-after` would have the same page read for ever. */
  #checkPage(keys: readonly string[], prefix: string, after: string): void {
    let last = Buffer.from(after);
    for (const key of keys) {
      const bytes = Buffer.from(key);
      if (!key.startsWith(prefix) || Buffer.compare(last, bytes) >= 0)
        throw this.#notS3('lists other keys than those asked for');
      last = bytes;
    }
  }

  /** Asks until there is an answer that another attempt would not change. */
  async #request(pathAndQuery: string): Promise<Answer> {
    const { attemptsMax, firstWaitMs } = this.#options;
    let trouble = '';
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      if (attempt > 0) {
        const waitMs = firstWaitMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
        await new Promise((done) => setTimeout(done, waitMs));
      }
      try {
        const answer = await this.#attempt(pathAndQuery);
        if (answer.status !== 429 && answer.status < 500) return answer;
        trouble = `it answered ${said(answer.status, errorOf(answer.body))}`;
      } catch (error) {
        trouble = networkTrouble(error);
      }
    }
    throw new EngineError(
      'STORE_FAILED',
      `${this.#access.place} could not be read in ${attemptsMax} attempts: ${this.#plain(trouble)}`,
      { hint: 'Check the network, and R2_ACCOUNT_ID or --endpoint.' },
    );
  }

  async #attempt(pathAndQuery: string): Promise<Answer> {
    const request = await this.#client.sign(`${this.#access.url}${pathAndQuery}`);
    const response = await fetch(request, {
      redirect: 'manual',
      signal: AbortSignal.timeout(this.#options.timeoutMs),
    });
    return { status: response.status, body: new Uint8Array(await response.arrayBuffer()) };
  }

  /** An answer that means no. */
  #refusal(status: number, body: Uint8Array): EngineError {
    const answer = errorOf(body);
    const what = this.#plain(said(status, answer));
    if (answer.code === 'NoSuchBucket') {
      return new EngineError('NOT_FOUND', `there is no such bucket: ${this.#access.place}`, {
        detail: `The answer was ${what}.`,
        hint: 'Check the name and the account; a bucket of a jurisdiction needs --endpoint.',
      });
    }
    if (status === 401 || status === 403) {
      const late = answer.code === 'RequestTimeTooSkewed';
      return new EngineError(
        'ACCESS_DENIED',
        `${this.#access.place} may not be read with this key`,
        {
          detail: `The answer was ${what}.`,
          hint: late
            ? "Set this machine's clock right: requests are signed with the time."
            : 'Check that R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY are those of one token, that it is for this bucket and not expired, and that the bucket is in this account.',
        },
      );
    }
    return this.#notS3(`answers ${what}`);
  }

  #notS3(does: string): EngineError {
    return new EngineError('INVALID_OPTION', `${this.#access.place} ${does}`, {
      hint: 'Check that --endpoint is the URL of an S3 API, without the bucket, and that the keys are whole.',
    });
  }

  /** What a server or the network said, without what is hidden, should they repeat it. */
  #plain(text: string): string {
    return this.#access.hidden.reduce((plain, value) => plain.replaceAll(value, '…'), text);
  }
}

/** Also what `encodeURIComponent` leaves alone and a signature does not. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** S3 writes a space of a listed key as `+`. */
const decoded = (text: string): string => decodeURIComponent(text.replaceAll('+', '%20'));

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#([0-9]+)|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return ENTITIES[name] ?? whole;
  });
}

/** The text of an element that the document has once. */
function elementOf(xml: string, name: string): string | null {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return found === undefined ? null : unescaped(found);
}

function errorOf(body: Uint8Array): { code: string | null; message: string | null } {
  const xml = new TextDecoder().decode(body.subarray(0, 10_000));
  return { code: elementOf(xml, 'Code'), message: elementOf(xml, 'Message') };
}

function said(status: number, { code, message }: ReturnType<typeof errorOf>): string {
  const text = message?.replace(/\s+/g, ' ').slice(0, 300).replace(/\.$/, '');
  return [String(status), code, text && `(${text})`].filter(Boolean).join(' ');
}

/** fetch itself says no more than "fetch failed"; why stands in its cause. */
function networkTrouble(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  const code = (cause as NodeJS.ErrnoException).code;
  return cause.message || (code ?? cause.name);
}
