import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileBlock, readPage, root } from '../support/documents/markdown.ts';
import { missing, nginx, startProgram } from '../support/net/program.ts';
import { makeIdentity } from '../support/net/transport.ts';
import {
  type Cluster,
  database,
  owner,
  password,
  postgresPrograms,
  startCluster,
} from '../support/postgres/cluster.ts';
import { missingPostgres } from '../support/postgres/server.ts';
import { freePort } from '../support/redis/server.ts';
import { installedFolder } from '../support/schemes/clients/declared.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { stable } from './compare.ts';

const page = readPage('docs/several-hosts.md');
const skip = missingPostgres || missing('nginx') || missing('curl') || missing('openssl');
const server = join(root, 'dist/server.js');

/** A command of the page, and the lines that it prints. */
interface Step {
  readonly command: string;
  readonly output: string;
}

const steps: readonly Step[] = page.blocks
  .filter(({ language }) => language === 'console')
  .flatMap(({ text }) => text.split(/^\$ /m).slice(1))
  .map((text) => {
    const end = text.indexOf('\n');
    return { command: text.slice(0, end), output: text.slice(end + 1) };
  });

const block = (file: string): string => fileBlock(page, file);

const url = 'https://localhost:8443/articles/tea';
const article = `curl -sk -o /dev/null -w '%{http_code}' ${url}`;
const entityTag = `curl -skI ${url} | grep -i ^etag:`;

/** A folder in which the commands of the page run, with a database. */
class Setting {
  readonly folder: string;
  readonly cluster: Cluster;
  readonly environment: Record<string, string | undefined>;
  readonly processes: ChildProcess[] = [];
  readonly #ports: ReadonlyMap<string, number>;

  private constructor(folder: string, cluster: Cluster, ports: ReadonlyMap<string, number>) {
    this.folder = folder;
    this.cluster = cluster;
    this.#ports = ports;
    const { NODE_TEST_CONTEXT: _, COUNTERSIGN_SECRET: __, ...inherited } = process.env;
    const url = `postgres://${owner}:${password}@${encodeURIComponent(cluster.directory)}/${database}`;
    const path = [postgresPrograms(), inherited['PATH']].join(delimiter);
    this.environment = { ...inherited, PATH: path, NODE_OPTIONS: '', DATABASE_URL: url };
  }

  static async open(context: TestContext): Promise<Setting> {
    const cluster = await startCluster(['listen_addresses=', 'max_connections=60']);
    context.after(() => cluster.remove());
    const ports = new Map<string, number>();
    for (const name of ['8081', '8082', '8443']) ports.set(name, await freePort());
    const setting = new Setting(temporaryDirectory(context), cluster, ports);
    context.after(() => setting.stop());
    setting.#write();
    return setting;
  }

  /** Writes the files of the page, and those that it mentions. */
  #write(): void {
    const { folder } = this;
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(root, join(folder, 'node_modules/countersign'));
    symlinkSync(installedFolder('pg'), join(folder, 'node_modules/pg'));
    const store = block('store.mjs');
    const moved = store.replace('DATABASE_URL })', "DATABASE_URL }), { schema: 'moved' }");
    assert.notEqual(moved, store);
    writeFileSync(join(folder, 'store.mjs'), store);
    writeFileSync(join(folder, 'moved.mjs'), moved);
    const { cert, key } = makeIdentity('localhost');
    writeFileSync(join(folder, 'certificate.pem'), cert);
    writeFileSync(join(folder, 'key.pem'), key);
    mkdirSync(join(folder, 'temp'));
    const configuration = readFileSync(join(root, 'examples/nginx/nginx.conf'), 'utf8');
    const upstream = /^ {2}upstream countersign \{.*?^ {2}\}\n/ms;
    assert.match(configuration, upstream);
    const changed = configuration.replace(upstream, block('upstream.conf'));
    writeFileSync(join(folder, 'nginx.conf'), this.#withPorts(changed));
  }

  /** Runs a command to its end, or until a server is ready. Returns what it printed. */
  async run(command: string): Promise<string> {
    const text = this.#withPorts(command);
    const isServer = text.startsWith('countersign serve ');
    const words = isServer ? text.split(' ').slice(1) : [];
    const options = { cwd: this.folder, env: this.environment };
    const child = isServer
      ? spawn(process.execPath, [server, ...words], options)
      : spawn('bash', ['-c', `countersign() { '${process.execPath}' '${server}' "$@"; }\n${text}`], options);
    if (isServer) this.processes.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
      });
    if (isServer) await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    else await once(child, 'close');
    return [...this.#ports].reduce((all, [name, port]) => all.replaceAll(String(port), name), output);
  }

  /** Stops servers, all by default. */
  async stop(processes: readonly (ChildProcess | undefined)[] = this.processes.splice(0)): Promise<void> {
    for (const child of processes) {
      child?.kill();
      if (child?.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  }

  #withPorts(text: string): string {
    return text.replace(/\b80(?:81|82)\b|\b8443\b/g, (name) => String(this.#ports.get(name)));
  }
}

/** Returns the commands from the one with a prefix on; those before another prefix. */
function stepsFrom(from: string, to?: string): readonly Step[] {
  const at = (prefix: string): number => steps.findIndex(({ command }) => command.startsWith(prefix));
  assert.ok(at(from) >= 0, from);
  return steps.slice(at(from), to === undefined ? undefined : at(to));
}

async function runAll(setting: Setting, some: readonly Step[]): Promise<void> {
  for (const { command, output } of some) {
    const printed = await setting.run(command);
    assert.equal(stable(printed), stable(output), command);
    const [, secret] = /^secret +(\S+)$/m.exec(printed) ?? [];
    if (secret !== undefined) setting.environment['COUNTERSIGN_SECRET'] = secret;
  }
}

/** Sends a signed PUT through the proxy. Returns the status. */
async function put(setting: Setting): Promise<string> {
  const [sign, , send] = stepsFrom('countersign sign', 'grep');
  assert.ok(sign !== undefined && send !== undefined);
  await setting.run(sign.command);
  return (await setting.run(send.command)).trim();
}

/** Starts two servers behind nginx, with an article. */
async function started(context: TestContext): Promise<Setting> {
  const setting = await Setting.open(context);
  await startProgram(context, nginx, setting.folder);
  await runAll(setting, stepsFrom('(umask', 'countersign sign'));
  await setting.run(stepsFrom('echo')[0]?.command ?? '');
  assert.equal(await put(setting), '201');
  return setting;
}

/** Creates the data directory `old` with a user and an article. */
async function fillOld(setting: Setting): Promise<void> {
  await setting.run('countersign user add ann --data old --key-file countersign.key');
  const tea = { title: 'Tea', price: { value: '3.50', currency: 'EUR' } };
  writeFileSync(join(setting.folder, 'seed.json'), JSON.stringify({ seed: { '/articles': [tea] } }));
  await setting.run(
    'countersign serve --data old --key-file countersign.key --config seed.json --no-tls --port 0',
  );
  await setting.stop([setting.processes.pop()]);
}

test('the commands of docs/several-hosts.md print what is shown, with PostgreSQL and nginx', {
  skip,
}, async (context) => {
  const setting = await Setting.open(context);
  await startProgram(context, nginx, setting.folder);
  await runAll(setting, stepsFrom('(umask', 'DATABASE_URL='));
  await runAll(setting, stepsFrom('DATABASE_URL=', 'countersign export'));
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map(() => setting.run(article))), Array(4).fill('200'));

  await fillOld(setting);
  const exported = (name: string): string[] =>
    readFileSync(join(setting.folder, name), 'utf8').trim().split('\n').slice(1, -1);
  const [first, ...others] = stepsFrom('countersign export', 'pg_dump');
  assert.ok(first !== undefined);
  await runAll(setting, [first]);
  const before = exported('items.jsonl');
  assert.equal(before.length, 3, before.join('\n'));
  await runAll(setting, others);
  assert.deepEqual(exported('back.jsonl'), before);
  assert.equal(
    stable(await setting.run('countersign user list --data new --key-file countersign.key')),
    'ann  1 valid secret',
  );

  await runAll(setting, stepsFrom('pg_dump', 'psql'));
  const tag = await setting.run(entityTag);
  await setting.stop();
  await runAll(setting, stepsFrom('psql'));
  const [start] = stepsFrom('countersign serve');
  assert.ok(start !== undefined);
  await setting.run(start.command);
  assert.equal(await setting.run(entityTag), tag);
  await setting.stop();
  const statement = page.blocks.find(({ language }) => language === 'sql')?.text ?? '';
  assert.equal(await setting.run(`psql "$DATABASE_URL" -q <<'END'\n${statement}END`), '');
  await setting.run(start.command);
  assert.notEqual(await setting.run(entityTag), tag);
  assert.equal(await put(setting), '503');
});

test('after a process behind nginx is killed, the other one serves every acknowledged change', {
  skip,
}, async (context) => {
  const setting = await started(context);
  assert.equal(await put(setting), '200');
  const [first] = setting.processes.splice(0, 1);
  first?.kill('SIGKILL');
  for (let count = 0; count < 4; count += 1) {
    assert.equal(await setting.run(article), '200');
    assert.equal(await put(setting), '200');
  }
});

test('while PostgreSQL is down, requests get 503 with Retry-After soon, and are accepted afterwards', {
  skip,
}, async (context) => {
  const setting = await started(context);
  await setting.cluster.crash();
  for (const request of ['-T tea.json -H @signature -H "Content-Type: application/json"', '']) {
    await setting.run(stepsFrom('countersign sign')[0]?.command ?? '');
    const [status, seconds, after] = (
      await setting.run(
        `curl -sk -o /dev/null -w '%{http_code} %{time_total} %header{retry-after}' ${request} ${url}`,
      )
    ).split(' ');
    assert.equal(status, '503');
    // Two seconds, and what a loaded machine adds.
    assert.ok(Number(seconds) < 15, seconds);
    assert.ok(Number(after) > 0, after);
  }
  await setting.cluster.start();
  assert.equal(await put(setting), '200');
});
