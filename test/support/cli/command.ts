import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../../../src/cli/commands/serve.ts';
import { run as runCommand } from '../../../src/cli/main.ts';
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

/** The signals that a server handles. */
type Signal = 'SIGTERM' | 'SIGINT' | 'SIGHUP';

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
  signal(name: Signal): void;
  /** Ends it by SIGTERM. */
  stop(): Promise<Ended>;
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

/** Does what the command does, in this process and so more quickly. A server runs to its end. */
export async function call(args: readonly string[], given: Given = {}): Promise<Ended> {
  if (args[0] === 'serve' || args[0]?.startsWith('-')) return serveHere(args, given).ended;
  const { stdin, stdout, stderr } = { stdin: Readable.from([Buffer.from(given.input ?? '')]), ...outlets() };
  const [name = '', ...rest] = args;
  const status = await runCommand(name, rest, given.environment ?? {}, { stdin, stdout, stderr });
  // What `import` reads is no secret: `export` printed it.
  if (name !== 'import') keepSecrets(given);
  keepSaid(stdout.text);
  keepSaid(stderr.text);
  return { status, stdout: stdout.text, stderr: stderr.text };
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

/** A server that was started, in this process or another. */
interface Started {
  /** The addresses of the ready line. */
  readonly ready: Promise<readonly string[]>;
  readonly ended: Promise<Ended>;
}

/** Starts a server in a process and waits for its ready line. Rejects with what it printed if it ends instead. */
export async function startProcess(args: readonly string[], given: Given = {}): Promise<Running> {
  const { child, awaitStderr, ...started } = launch(args, given);
  after(() => child.kill('SIGKILL'));
  return {
    ...(await awaitAddresses(started)),
    pid: child.pid ?? 0,
    awaitStderr,
    signal: (name) => child.kill(name),
    stop() {
      child.kill('SIGTERM');
      return started.ended;
    },
    closeInput: () => child.stdin?.end(),
    ended: started.ended,
  };
}

/**
 * Starts a server in this process and so more quickly, and waits for its ready line. Rejects with what it printed if it ends
 * instead. It writes no access log.
 */
export async function startServer(args: readonly string[], given: Given = {}): Promise<Running> {
  const { stop, stdin, stderr, ...started } = serveHere(args, given);
  after(() => stop('SIGTERM'));
  return {
    ...(await awaitAddresses(started)),
    pid: process.pid,
    async awaitStderr(what) {
      while (!what.test(stderr.text)) await once(stderr, 'written');
      return stderr.text;
    },
    signal: stop,
    stop() {
      stop('SIGTERM');
      return started.ended;
    },
    closeInput: () => stdin.end(),
    ended: started.ended,
  };
}

/** Runs a server in this process. */
function serveHere(args: readonly string[], given: Given) {
  keepSecrets(given);
  const stdin = new PassThrough();
  const [stdout, stderr] = [new Output(), new Output()];
  const host = Object.assign(new EventEmitter(), {
    stdin,
    stdout,
    stderr,
    exit: (status: number): void => void host.emit('exit', status),
  });
  const ended = once(host, 'exit').then(([status]): Ended => {
    return { status, stdout: stdout.text, stderr: stderr.text };
  });
  ended.then(keepOutput);
  const environment = { ...inheritedEnvironment(), ...given.environment };
  const ready = new Promise<readonly string[]>((resolve) => {
    serve(withoutLog(args), environment, host).then((status) => {
      if (status !== undefined) host.exit(status);
      else resolve(/^Countersign is ready: (.+)\n/.exec(stdout.text)?.[1]?.split(' ') ?? []);
    });
  });
  const stop = async (signal: Signal): Promise<void> => {
    host.emit(signal);
    if (signal !== 'SIGHUP') await ended;
  };
  return { ready, ended, stop, stdin, stderr };
}

/** An output of a server in this process. */
class Output extends EventEmitter {
  text = '';
  /** Nothing is written to it. */
  readonly fd = -1;

  write(more: string): void {
    this.text += more;
    this.emit('written');
  }
}

/** Returns the options of a server without an access log. */
function withoutLog(args: readonly string[]): readonly string[] {
  const options = args[0] === 'serve' ? args.slice(1) : args;
  return options.includes('--log') ? options : [...options, '--log', 'off'];
}

async function awaitAddresses({ ready, ended }: Started) {
  const failed = ended.then((end) => Promise.reject(new Error(`it ended with ${end.status}: ${end.stderr}`)));
  const [url = '', ...others] = await Promise.race([ready, failed]);
  failed.catch(() => {}); // it ends later
  const secureUrl = [url, ...others].find((each) => each.startsWith('https:')) ?? '';
  const controlUrl = others.find((each) => each.startsWith('control='))?.slice('control='.length) ?? '';
  return { url, secureUrl, controlUrl };
}

function keepOutput({ stdout, stderr }: Ended): void {
  keepSaid(stdout);
  keepSaid(stderr);
}

interface Launched extends Started {
  readonly child: ChildProcess;
  awaitStderr(what: RegExp): Promise<string>;
}

function inheritedEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('COUNTERSIGN_') && name !== 'NODE_OPTIONS',
  );
  // Tests run side by side: none takes the port that is the default.
  return { ...Object.fromEntries(inherited), COUNTERSIGN_TLS_PORT: '0' };
}

function launch(args: readonly string[], given: Given): Launched {
  const { environment = {}, json = false } = given;
  keepSecrets(given);
  const env = { ...inheritedEnvironment(), ...environment };
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
    child.on('close', (status) => resolve({ status, stdout, stderr }));
  });
  ended.then(keepOutput);
  const awaitStderr = async (what: RegExp): Promise<string> => {
    while (!what.test(stderr)) await once(child.stderr, 'data');
    return stderr;
  };
  return { child, ended, ready, awaitStderr };
}
