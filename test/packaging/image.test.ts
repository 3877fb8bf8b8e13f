import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { root } from '../support/cli/command.ts';
import { freePorts } from '../support/documents/shell.ts';
import { onlyLong } from '../support/store/thoroughness.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import {
  cannotBuild,
  createBuilder,
  type ImageConfiguration,
  parseInstructions,
  writeBase,
} from './image.ts';

const dockerfile = 'packaging/Dockerfile';
const data = '/var/lib/countersign/data';
const closing: (() => void)[] = [];
after(() => {
  for (const close of closing) close();
});
const folder = temporaryDirectory();

function reasonToSkip(): string | false {
  if (onlyLong !== false) return onlyLong;
  if (process.platform !== 'linux') return 'buildah requires Linux';
  return cannotBuild(folder);
}

const skip = reasonToSkip();

/** Returns the value of a build argument in the Dockerfile. */
function argument(name: string): string | undefined {
  return parseInstructions(dockerfile)
    .find((line) => line.startsWith(`ARG ${name}=`))
    ?.slice(`ARG ${name}=`.length);
}

/** Returns the process within a container: the last descendant of the process that started it. Any thread can be a parent. */
function innermost(pid: number): number {
  const threads = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : [];
  const [child] = threads
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '))
    .filter((each) => each !== '');
  return child === undefined ? pid : innermost(Number(child));
}

async function awaitStatus(child: ChildProcess): Promise<number | null> {
  child.stdout?.resume();
  child.stderr?.resume();
  const [status] = await once(child, 'exit');
  return status;
}

/** Waits for the ready line. */
async function ready(child: ChildProcess): Promise<void> {
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  for await (const chunk of child.stdout?.iterator({ destroyOnReturn: false }) ?? [])
    if (/^Countersign is ready/.test(String(chunk))) return;
  assert.fail(output);
}

test('the Dockerfile uses no shell, and its last stage is an image without one', () => {
  const instructions = parseInstructions(dockerfile);
  for (const line of instructions.filter((each) => /^(?:RUN|CMD|ENTRYPOINT|HEALTHCHECK)\b/.test(each)))
    assert.match(line, /^[A-Z]+ (?:--\S+ +)*(?:CMD )?\["/, line);
  assert.match(argument('BASE_IMAGE') ?? '', /^gcr\.io\/distroless\//);
  assert.equal(instructions.filter((line) => line.startsWith('FROM ')).length, 2);
});

test('the build context contains exactly the files that the Dockerfile copies', () => {
  const kept = readFileSync(join(root, `${dockerfile}.dockerignore`), 'utf8').match(/^!.+$/gm) ?? [];
  const copied = parseInstructions(dockerfile)
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
    .flatMap((line) => line.split(' ').slice(1, -1));
  assert.deepEqual(kept.map((each) => each.slice(1)).sort(), copied.sort());
});

test('the image runs the server, reports its health, and stops on SIGTERM', { skip }, async (context) => {
  assert.ok(existsSync(join(root, 'dist/server.js')), 'dist is not built: npm run build');
  const builder = createBuilder(folder);
  closing.push(() => builder.close());
  writeBase(folder);
  builder.build('localhost/base', join(folder, 'Dockerfile'), folder, {});
  const base = { NODE_IMAGE: 'localhost/base', BASE_IMAGE: 'localhost/base' };
  const image: ImageConfiguration = builder.build('localhost/countersign', dockerfile, root, base);
  assert.equal(image.User, '65532:65532');
  assert.deepEqual(Object.keys(image.Volumes), [data]);

  const container = builder.create('localhost/countersign');
  const files = builder.mount(container);
  assert.deepEqual(readdirSync(join(files, 'app')).sort(), ['LICENSE', 'dist', 'package.json']);
  const { uid, mode } = lstatSync(join(files, data));
  assert.deepEqual([uid, mode & 0o777], [65_532, 0o700]);

  const ports = await freePorts();
  const environment = {
    COUNTERSIGN_PORT: ports.get('8080') ?? '',
    COUNTERSIGN_TLS_PORT: ports.get('8443') ?? '',
  };
  const [kind, ...check] = image.Healthcheck.Test;
  assert.equal(kind, 'CMD');
  assert.equal(await awaitStatus(builder.run(container, environment, check)), 1);

  const server = builder.run(container, environment, [...image.Entrypoint, ...image.Cmd]);
  context.after(() => {
    if (server.exitCode === null) process.kill(innermost(server.pid ?? 0), 'SIGKILL');
  });
  await ready(server);
  const pid = innermost(server.pid ?? 0);
  assert.match(readFileSync(`/proc/${pid}/status`, 'utf8'), /^Uid:\t65532\t65532\t65532\t65532$/m);
  assert.equal(await awaitStatus(builder.run(container, environment, check)), 0);
  process.kill(pid, 'SIGTERM');
  assert.equal(await awaitStatus(server), 0);
});
