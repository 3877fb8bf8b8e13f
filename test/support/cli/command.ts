import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { attackServer } from '../../../src/cli/commands/attack.ts';
import { check } from '../../../src/cli/commands/check.ts';
import { client } from '../../../src/cli/commands/client.ts';
import { consumer } from '../../../src/cli/commands/consumer.ts';
import { runDataCommand } from '../../../src/cli/commands/data.ts';
import { grant } from '../../../src/cli/commands/grant.ts';
import { key } from '../../../src/cli/commands/key.ts';
import { openapi } from '../../../src/cli/commands/openapi.ts';
import { sign } from '../../../src/cli/commands/sign.ts';
import { user } from '../../../src/cli/commands/user.ts';
import { modulePath, reading } from '../program.ts';
import { keepSaid, keepSecret } from '../transcript.ts';
import { createNoticeText } from './notices.ts';

/** The repository. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));

const built = process.env['TEST_COMMAND'];

/** How the command is run: as it is compiled, so that what is covered is known; or as TEST_COMMAND, which starts sooner. */
export const command: readonly string[] =
  built === undefined ? [...reading, modulePath('src/server.ts')] : [join(root, built)];

/** What a run is given besides its arguments. */
export interface Given {
  environment?: Readonly<Record<string, string>>;
  input?: string | Uint8Array;
  /** Whether notices in JSON stay as they are. Default: they become the text that a terminal shows. */
  json?: boolean;
}

/** What became of a run. */
export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A server that said it is ready. */
export interface Running {
  /** The first address of the ready line: plain HTTP where there is that. */
  readonly url: string;
  /** The address of HTTPS; empty where there is none. */
  readonly secureUrl: string;
  /** The address of the control interface; empty where there is none. */
  readonly controlUrl: string;
  readonly pid: number;
  /** What it said on standard error, once that is in it. */
  awaitStderr(what: RegExp): Promise<string>;
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGHUP'): void;
  /** Closes its standard input. */
  closeInput(): void;
  readonly ended: Promise<Ended>;
}

/** Runs a command to its end. */
export function run(args: readonly string[], given: Given = {}): Promise<Ended> {
  const { ended, child } = launch(args, given);
  child.stdin?.on('error', () => {}); // Who needs no input may be gone before it is written.
  child.stdin?.end(given.input ?? '');
  return ended;
}

const dataCommandNames = ['backup', 'restore', 'export', 'import'] as const;

/** Does what the command does, in this process and so more quickly. */
export async function call(args: readonly string[], given: Given = {}): Promise<Ended> {
  const { stdin, stdout, stderr } = { stdin: Readable.from([Buffer.from(given.input ?? '')]), ...outlets() };
  const [name = '', ...rest] = args;
  const commands = new Map([
    ['sign', sign],
    ['attack', attackServer],
    ['user', user],
    ['check', check],
    ['openapi', openapi],
    ['client', client],
    ['consumer', consumer],
    ['grant', grant],
    ['key', key],
    ...dataCommandNames.map((each): [string, typeof sign] => [
      each,
      (...arguments_) => runDataCommand(each, ...arguments_),
    ]),
  ]);
  const status = await commands.get(name)?.(rest, given.environment ?? {}, { stdin, stdout, stderr });
  // What `import` reads is no secret: `export` printed it.
  if (name !== 'import') keepSecrets(given);
  keepSaid(stdout.text);
  keepSaid(stderr.text);
  return { status: status ?? null, stdout: stdout.text, stderr: stderr.text };
}

/** Keeps what is given in secret, so that it is looked for in all that is said. */
function keepSecrets({ environment = {}, input = '' }: Given): void {
  for (const name of ['COUNTERSIGN_SECRET', 'COUNTERSIGN_KEY', 'COUNTERSIGN_CONTROL_TOKEN'])
    keepSecret(environment[name] ?? '');
  keepSecret(input.toString().trim());
}

function outlets() {
  const outlet = () => ({
    text: '',
    write(more: string, onWritten?: () => void) {
      this.text += more;
      onWritten?.();
    },
  });
  return { stdout: outlet(), stderr: outlet() };
}

/** Starts a server and waits for its ready line; rejects with what it said when it ends instead. */
export async function startServer(args: readonly string[], given: Given = {}): Promise<Running> {
  const { child, ended, ready, awaitStderr } = launch(args, given);
  after(() => child.kill('SIGKILL'));
  const [url = '', ...others] = await Promise.race([
    ready,
    ended.then((end) => Promise.reject(new Error(`it ended with ${end.status}: ${end.stderr}`))),
  ]);
  const secureUrl = [url, ...others].find((each) => each.startsWith('https:')) ?? '';
  const controlUrl = others.find((each) => each.startsWith('control='))?.slice('control='.length) ?? '';
  return {
    url,
    secureUrl,
    controlUrl,
    pid: child.pid ?? 0,
    awaitStderr,
    signal: (name) => child.kill(name),
    closeInput: () => child.stdin?.end(),
    ended,
  };
}

interface Launched {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** The addresses of the ready line. */
  readonly ready: Promise<readonly string[]>;
  awaitStderr(what: RegExp): Promise<string>;
}

function launch(args: readonly string[], given: Given): Launched {
  const { environment = {}, json = false } = given;
  keepSecrets(given);
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('COUNTERSIGN_') && name !== 'NODE_OPTIONS',
  );
  // Tests run side by side: none takes the port that is the default.
  const env = { ...Object.fromEntries(inherited), COUNTERSIGN_TLS_PORT: '0', ...environment };
  const child = spawn(process.execPath, [...command, ...args], { cwd: root, env, stdio: 'pipe' });
  let [stdout, stderr] = ['', ''];
  const asText = json ? (chunk: string) => chunk : createNoticeText();
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += asText(chunk);
  });
  child.stdout.setEncoding('utf8');
  const ready = new Promise<readonly string[]>((resolve) => {
    child.stdout.on('data', (chunk: string) => {
      stdout += chunk;
      const urls = /^Countersign is ready: (.+)\n/.exec(stdout)?.[1];
      if (urls !== undefined) resolve(urls.split(' '));
    });
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (status) => {
      keepSaid(stdout);
      keepSaid(stderr);
      resolve({ status, stdout, stderr });
    });
  });
  const awaitStderr = async (what: RegExp): Promise<string> => {
    while (!what.test(stderr)) await once(child.stderr, 'data');
    return stderr;
  };
  return { child, ended, ready, awaitStderr };
}
