/** What the API's routes need, on Cloudflare. */
import type { ApiServices, CrashTarget, LocalServices, LogAccess } from '../api/services.ts';
import { EngineError } from '../base/errors.ts';
import { hostName, leaderName, logName } from '../base/ids.ts';
import { LineagePaths } from '../lineage/paths.ts';
import { readLineage } from '../lineage/read.ts';
import { catalogDatabase } from './catalog-database.ts';
import { codeVersionOf, reconcileNow } from './controller-ports.ts';
import { answeredWithin } from './deadline.ts';
import { WORKERS_OF_REQUEST, functionCaller } from './functions/functions.ts';
import { type Env, hosts, isLocal, leaders, logs } from './env.ts';
import { ended, forget } from './forget.ts';
import { driveLineage } from './r2-store.ts';
import { withRetry } from './retry.ts';

const STATUS_MS = 3_000;
/** Beyond the wait that was asked for. */
const TAIL_SLACK_MS = 5_000;

export type Later = { waitUntil(work: Promise<unknown>): void };

export function apiServices(env: Env, later: Later): ApiServices {
  const functions = functionCaller(env, later, WORKERS_OF_REQUEST);
  return {
    database: catalogDatabase(env),
    nowMs: () => Date.now(),
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    reconcile: async (pipelineId) => {
      const { first, rest } = reconcileNow(env, pipelineId);
      later.waitUntil(rest);
      await first;
    },
    reconcileLater: (pipelineId) => {
      later.waitUntil(reconcileNow(env, pipelineId).rest);
    },
    ...leaderServices(env),
    readObject: async (key) => {
      const object = await withRetry(() => env.BUCKET.get(key));
      return object === null ? null : new Uint8Array(await object.arrayBuffer());
    },
    codeVersion: codeVersionOf(env),
    tail: async ({ pipelineId, generation, host, operator }, after, waitMs) =>
      await answeredWithin(
        waitMs + TAIL_SLACK_MS,
        hosts(env)
          .getByName(hostName(pipelineId, generation, host))
          .tail(operator, after, waitMs),
      ),
    log: (pipelineId, table, partition) => logAccess(env, logName(pipelineId, table, partition)),
    lineage: (pipelineId, jobId) =>
      driveLineage(env.BUCKET, readLineage(new LineagePaths(pipelineId, jobId))),
    checkFunction: (fn) => functions.check(fn),
    callFunction: (fn, rows, columns) => functions.call({ fn, rows, columns }),
    forgetLater: (pipelineId, jobId, generation) => {
      later.waitUntil(forget(env, pipelineId, jobId, generation));
    },
    local: isLocal(env) ? localServices(env) : null,
  };
}

type LeaderServices = Pick<
  ApiServices,
  'leaderStatus' | 'leaderSeries' | 'leaderHistory' | 'flush' | 'problems'
>;

/** What a leader tells; one that is silent for long is taken for none where a page can do without it. */
function leaderServices(env: Env): LeaderServices {
  const leaderOf = (pipelineId: string, generation: number) =>
    leaders(env).getByName(leaderName(pipelineId, generation));
  return {
    leaderStatus: async (pipelineId, generation) => {
      try {
        return await answeredWithin(STATUS_MS, leaderOf(pipelineId, generation).poll());
      } catch {
        return null;
      }
    },
    leaderSeries: async (pipelineId, generation) => {
      try {
        return await answeredWithin(STATUS_MS, leaderOf(pipelineId, generation).series());
      } catch {
        return [];
      }
    },
    leaderHistory: async (pipelineId, generation, { fromMs, toMs, stepMs }) => {
      try {
        const leader = leaderOf(pipelineId, generation);
        return await answeredWithin(STATUS_MS, leader.history(fromMs, toMs, stepMs));
      } catch {
        return null;
      }
    },
    flush: (pipelineId, generation) =>
      answeredWithin(STATUS_MS, leaderOf(pipelineId, generation).flush()),
    problems: (pipelineId, generation, after, limit) =>
      answeredWithin(STATUS_MS, leaderOf(pipelineId, generation).problems(after, limit)),
  };
}

function logAccess(env: Env, name: string): LogAccess {
  const log = () => logs(env).getByName(name);
  return {
    append: async (request) => {
      // Without a key a lost answer cannot be told from a lost request: the client decides.
      if (request.idempotencyKey === null) return await reached(() => log().append(request));
      return await withRetry(() => log().append(request));
    },
    rejected: async (limit) => await withRetry(() => log().rejected(limit)),
    unread: async () => {
      const { endOffset, trimmedOffset } = await withRetry(() => log().status());
      return endOffset - trimmedOffset;
    },
    destroy: async () => {
      await withRetry(async () => await ended(() => log().destroy(), 'deleted'));
    },
  };
}

async function reached<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (thrown) {
    throw new EngineError(
      'STORE_FAILED',
      'the log did not answer: the rows may be stored or not',
      { hint: 'Send an Idempotency-Key, and a retry is always safe.' },
      thrown,
    );
  }
}

function localServices(env: Env): LocalServices {
  return {
    crash: async (pipelineId, target) =>
      await ended(() => crash(env, pipelineId, target), 'crash asked for'),
    objects: async (prefix, after) => {
      const page = await env.BUCKET.list({
        prefix,
        ...(after === '' ? {} : { startAfter: after }),
      });
      return {
        objects: page.objects.map(({ key, size }) => ({ key, size })),
        truncated: page.truncated,
      };
    },
    object: async (key) => {
      const object = await env.BUCKET.get(key);
      return object === null
        ? null
        : { body: object.body as ReadableStream<Uint8Array>, size: object.size };
    },
    putObject: async (key, bytes) => {
      await env.BUCKET.put(key, bytes);
    },
  };
}

async function crash(env: Env, pipelineId: string, target: CrashTarget): Promise<void> {
  switch (target.tag) {
    case 'leader':
      return await leaders(env)
        .getByName(leaderName(pipelineId, target.generation))
        .crash(target.at);
    case 'host':
      return await hosts(env)
        .getByName(hostName(pipelineId, target.generation, target.index))
        .crash(target.at);
    case 'log':
      return await logs(env)
        .getByName(logName(pipelineId, target.table, target.index))
        .crash();
  }
}
