/** Functions of the user's own for one object or request of this Worker. */
import type { Env } from '../env.ts';
import { FunctionCaller, workerLoad } from './function-caller.ts';
import { outboundBy } from './function-network.ts';

/** Different sandboxes under way at once: the platform allows a request four of them, and an object ten. */
export const WORKERS_OF_REQUEST = 4;
export const WORKERS_OF_OBJECT = 8;

/** @param context  of the object or request: its exports say how granted hosts are reached */
export const functionCaller = (env: Env, context: object, workersMax: number): FunctionCaller =>
  new FunctionCaller(
    workerLoad(env.LOADER, outboundBy('exports' in context ? context.exports : undefined)),
    workersMax,
  );
