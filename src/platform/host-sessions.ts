/**
 * The sessions of one host with the hosts it sends rows to: one for each, opened when it is first needed and again after it broke.
 *
 * A call on a session costs no request of its own, where each call on an object's stub does. Failure: a call that breaks
 * is thrown, and the session is given up; the caller may repeat the call on a new one.
 */
import { type Env, type HostSession, hosts } from './env.ts';

type Opened = HostSession & Partial<Disposable>;

export class HostSessions {
  readonly #env: Env;
  readonly #sessions = new Map<string, Promise<Opened>>();

  constructor(env: Env) {
    this.#env = env;
  }

  /** Calls host `name`. */
  async call<T>(name: string, use: (session: HostSession) => Promise<T>): Promise<T> {
    let session = this.#sessions.get(name);
    if (session === undefined) {
      session = hosts(this.#env).getByName(name).openSession();
      this.#sessions.set(name, session);
    }
    try {
      return await use(await session);
    } catch (thrown) {
      if (this.#sessions.get(name) === session) this.#sessions.delete(name);
      void dispose(session);
      throw thrown;
    }
  }

  close(): void {
    for (const session of this.#sessions.values()) void dispose(session);
    this.#sessions.clear();
  }
}

async function dispose(session: Promise<Opened>): Promise<void> {
  try {
    (await session)[Symbol.dispose]?.();
  } catch {
    // It never came to be.
  }
}
