import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, linkSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../support/cli/command.ts';

/** The configuration of an image, as far as the tests need it. */
export interface ImageConfiguration {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** Builds images and runs containers in a folder, without a network and without privileges of the host. */
interface Builder {
  /** Builds an image. Returns its configuration. */
  build(
    name: string,
    dockerfile: string,
    context: string,
    args: Readonly<Record<string, string>>,
  ): ImageConfiguration;
  /** Creates a container and returns its name. */
  create(image: string): string;
  /** Returns the folder of the files of a container. */
  mount(container: string): string;
  /** Starts a command in a container. */
  run(
    container: string,
    environment: Readonly<Record<string, string>>,
    command: readonly string[],
  ): ChildProcess;
  /** Unmounts all containers, so that the folder can be removed. */
  close(): void;
}

/** Creates a builder that stores its images in a folder. */
export function createBuilder(folder: string): Builder {
  const stored = [
    '--root',
    join(folder, 'root'),
    '--runroot',
    join(folder, 'run'),
    '--storage-driver',
    'vfs',
  ];
  const call = (...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync('buildah', [...stored, ...args], { encoding: 'utf8' });
    assert.equal(status, 0, `buildah ${args.join(' ')}\n${stdout}\n${stderr}`);
    return stdout.trim();
  };
  return {
    build(name, dockerfile, context, args) {
      const given = Object.entries(args).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]);
      const options = ['--isolation', 'chroot', '--format', 'docker', '--pull-never', '--quiet', ...given];
      call('build', ...options, '--tag', name, '--file', dockerfile, context);
      return JSON.parse(call('inspect', '--type', 'image', name)).Docker.config;
    },
    create: (image) => call('from', '--pull-never', image),
    mount: (container) => call('mount', container),
    run: (container, environment, command) => {
      const given = Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
      const args = [...stored, 'run', '--isolation', 'chroot', ...given, container, '--', ...command];
      return spawn('buildah', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    },
    close: () => void call('umount', '--all'),
  };
}

/** Returns why no image can be built here; false if one can. */
export function cannotBuild(folder: string): string | false {
  const { error } = spawnSync('buildah', ['--version']);
  if (error !== undefined) return 'buildah is not installed';
  writeFileSync(join(folder, 'Dockerfile'), 'FROM scratch\nCOPY Dockerfile /\n');
  try {
    createBuilder(folder).build('localhost/probe', join(folder, 'Dockerfile'), folder, {});
    return false;
  } catch (failure) {
    return `buildah cannot build an image here: ${String(failure).split('\n').at(-1)}`;
  }
}

/** Writes the files of a base image to a folder: this Node.js, where distroless images have it, and its libraries. */
export function writeBase(folder: string): void {
  const { stdout } = spawnSync('ldd', [process.execPath], { encoding: 'utf8' });
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => [path, path] as const);
  for (const [from, to] of [[process.execPath, '/nodejs/bin/node'] as const, ...libraries]) {
    const path = join(folder, 'base', to);
    mkdirSync(dirname(path), { recursive: true });
    try {
      linkSync(realpathSync(from), path);
    } catch {
      copyFileSync(realpathSync(from), path);
    }
  }
  mkdirSync(join(folder, 'base/tmp'), { mode: 0o1777 });
  writeFileSync(join(folder, 'Dockerfile'), 'FROM scratch\nCOPY base /\nENV PATH=/nodejs/bin\n');
}

/** Returns the instructions of a Dockerfile, one line each, without comments. */
export function parseInstructions(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8');
  return text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '');
}
