/** What a function reaches that was granted some hosts: those, by HTTP, and nothing else. */
import { WorkerEntrypoint } from 'cloudflare:workers';
import type { NetworkGrant } from '../../expr/user-function.ts';
import type { OutboundOf } from './function-caller.ts';

export type NetworkProps = { hosts: readonly string[] };

/** Whether a request may go there; a host without a port stands for its usual ones. */
export function isGranted(url: string, hosts: readonly string[]): boolean {
  const { protocol, host, hostname, port } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return false;
  return hosts.includes(host) || (port === '' && hosts.includes(hostname));
}

export class FunctionNetwork extends WorkerEntrypoint<unknown, NetworkProps> {
  override async fetch(request: Request): Promise<Response> {
    const { hosts } = this.ctx.props;
    if (!isGranted(request.url, hosts))
      throw new Error(
        `${new URL(request.url).host} is not among the hosts that were granted: ${hosts.join(', ')}`,
      );
    // A redirect goes back to the function, whose next request is looked at like this one.
    return await fetch(request, { redirect: 'manual' });
  }
}

/** The Worker's own exports, as far as they are needed here. */
type Exports = { FunctionNetwork?: (options: { props: NetworkProps }) => Fetcher };

export const outboundBy =
  (exports: unknown): OutboundOf =>
  (grant: NetworkGrant) => {
    if (grant === 'none') return null;
    if (grant === 'internet') return undefined;
    // Without the export nothing can be told apart, so nothing is reached.
    return (exports as Exports | undefined)?.FunctionNetwork?.({ props: { hosts: grant } }) ?? null;
  };
