/** How the same thing gets onto Cloudflare: the commands of the README. */
import { CopyButton } from './copy-button.tsx';

const COMMANDS = `npx wrangler login
npx wrangler d1 create thalweg      # its id goes into wrangler.toml: database_id
npx wrangler r2 bucket create thalweg-state
npx wrangler d1 migrations apply thalweg --remote
npx wrangler deploy`;

export function Deploy() {
  return (
    <div class="deploy">
      <p>
        What runs here is the Worker that is deployed, with its Durable Objects. In the folder of
        the project, with an account that has the Workers Paid plan:
      </p>
      <div class="deploy-commands">
        <pre>{COMMANDS}</pre>
        <CopyButton text={COMMANDS} />
      </div>
      <p class="deploy-warning">
        The API has no authentication of its own: put Cloudflare Access in front of it before the
        first real row.
      </p>
    </div>
  );
}
