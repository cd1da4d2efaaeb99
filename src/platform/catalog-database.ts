/** The catalogue in D1. */
import { Kysely } from 'kysely';
import { D1Dialect } from 'kysely-d1';
import type { Database } from '../catalog/schema.ts';
import type { Env } from './env.ts';

export const catalogDatabase = (env: Env): Kysely<Database> =>
  new Kysely<Database>({ dialect: new D1Dialect({ database: env.DB }) });
