import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signRequest } from '../../../src/client/index.ts';
import { type Given, type Running, startProcess } from '../../support/cli/command.ts';
import { modulePath, reading } from '../../support/program.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** How a host is that is not as it should be. */
interface Host {
  /** How many milliseconds its clock is ahead. */
  readonly ahead: number;
  /** Whether no sync succeeds any more. */
  readonly failing: boolean;
}

/** A host for servers that have one directory. */
interface ChangedHost {
  readonly data: string;
  /** Starts the server there; its user is `ann`. */
  start(...args: readonly string[]): Promise<Running>;
  /** Changes the host, and lets the server notice. */
  change(host: Host, server?: Running): Promise<void>;
}

const secret = 'hidden-from-all';

/** Makes one, as it should be at first. */
export function changedHost(): ChangedHost {
  const directory = temporaryDirectory();
  const [path, config] = [join(directory, 'host.json'), join(directory, 'config.json')];
  const data = join(directory, 'data');
  writeFileSync(config, JSON.stringify({ data, users: { ann: { secret } } }), { mode: 0o600 });
  writeFileSync(path, JSON.stringify({ ahead: 0, failing: false }));
  const options = [...reading, '--import', modulePath('test/support/cli/changed-host.ts')].join(' ');
  const given: Given = { environment: { NODE_OPTIONS: options, CHANGED_HOST: path } };
  return {
    data,
    start: (...args) => startProcess(['--config', config, '--port', '0', '--no-tls', ...args], given),
    async change(host, server) {
      writeFileSync(path, JSON.stringify(host));
      if (server === undefined) return;
      process.kill(server.pid, 'SIGUSR2');
      await server.awaitStderr(
        new RegExp(`changed \\{"ahead":${host.ahead},"failing":${host.failing}\\}\n$`),
      );
    },
  };
}

/** A request that is signed once, dated so many milliseconds ahead; each call sends it, and gives the problem or the status. */
export function signedOnce(
  method: string,
  path: string,
  ahead = 0,
  content?: string,
): (server: Running) => Promise<string> {
  const clock = { now: () => Date.now() + ahead, steady: () => 0 };
  const given = { method, url: `http://127.0.0.1${path}`, user: 'ann', secret, clock };
  const signature = signRequest(content === undefined ? given : { ...given, body: content });
  const init = { method, headers: { ...signature, 'Content-Type': 'application/xml' } };
  return async (server) => {
    const reply = await fetch(
      `${server.url}${path}`,
      content === undefined ? init : { ...init, body: content },
    );
    const text = await reply.text();
    return /<type>\/problems\/([a-z-]+)</.exec(text)?.[1] ?? String(reply.status);
  };
}
