import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { missing } from '../net/program.ts';
import { root } from './markdown.ts';

/** The ports that the documents use, and the free ones that stand for them. */
type Ports = ReadonlyMap<string, string>;

/** Programs that the shell examples call. */
const shellPrograms = ['bash', 'curl', 'openssl'];

/** Returns those of the programs that are not installed. */
export function missingPrograms(): string[] {
  return shellPrograms.filter(missing);
}

/** Finds a free port for each port that the documents use. */
export async function freePorts(): Promise<Ports> {
  const servers = ['8080', '8443', '8090'].map(
    (name) => [name, createServer().listen(0, '127.0.0.1')] as const,
  );
  const ports = new Map<string, string>();
  for (const [name, server] of servers) {
    if (!server.listening) await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address === 'object') ports.set(name, String(address.port));
    server.close();
  }
  return ports;
}

function replacePorts(text: string, ports: Ports): string {
  return text.replace(/\b(?:8080|8443|8090)\b/g, (name) => ports.get(name) ?? name);
}

/** Undoes `replacePorts`. */
function restorePorts(text: string, ports: Ports): string {
  return [...ports].reduce((restored, [name, port]) => restored.replaceAll(port, name), text);
}

/**
 * Defines `countersign` and `npx`. `countersign serve` runs in the background, as it would in another terminal: it
 * stops the server before it, prints the ready line, and exports the secret of a first start, as the server asks.
 */
const preamble = `
server=
stop() { if [ -n "$server" ]; then kill "$server"; cat <&3 >/dev/null; server=; fi; }
trap stop EXIT
countersign() {
  if [ "$1" != serve ]; then "$NODE" "$SERVER" "$@"; return; fi
  stop
  exec 3< <(exec "$NODE" "$SERVER" "$@" --log json 2>server.log)
  server=$!
  IFS= read -r ready <&3 || cat server.log >&2
  echo "$ready"
  eval "$(sed -n 's/.*"secret":"\\([A-Za-z0-9_-]*\\)".*/export COUNTERSIGN_SECRET=\\1/p' server.log)"
}
npx() { "$@"; }
`;

/** Runs the commands in one shell. Returns the output of each, and what they wrote to standard error. */
export async function runSession(
  folder: string,
  commands: readonly string[],
  ports: Ports,
): Promise<{ outputs: string[]; stderr: string }> {
  const marks = commands.map((_, at) => `--- end of command ${at} ---`);
  const steps = commands.map((command, at) => `${replacePorts(command, ports)}\necho; echo '${marks[at]}'\n`);
  writeFileSync(join(folder, 'session.sh'), preamble + steps.join(''));
  const { COUNTERSIGN_SECRET: _, NODE_TEST_CONTEXT: __, ...inherited } = process.env;
  const env = {
    ...inherited,
    PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
    NODE: process.execPath,
    SERVER: join(root, 'dist/server.js'),
    COUNTERSIGN_PORT: ports.get('8080'),
    COUNTERSIGN_TLS_PORT: ports.get('8443'),
    NODE_OPTIONS: '',
    NODE_V8_COVERAGE: '',
  };
  const shell = spawn('bash', ['session.sh'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 240_000,
  });
  let [stdout, stderr] = ['', ''];
  shell.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  shell.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  await once(shell, 'close');
  const outputs = marks.map((mark) => {
    const [output = '', ...others] = stdout.split(`${mark}\n`);
    stdout = others.join(`${mark}\n`);
    return restorePorts(output, ports);
  });
  return { outputs, stderr };
}
