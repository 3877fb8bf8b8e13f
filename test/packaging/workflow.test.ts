import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { formatVariable, optionSpecs } from '../../src/options/table.ts';
import { root, startProcess } from '../support/cli/command.ts';
import { missing } from '../support/net/program.ts';
import { importPackage, missingPackage } from '../support/packages.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { parseInstructions } from './image.ts';

const source = readFileSync(join(root, 'packaging/github-actions.yml'), 'utf8');

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Service {
  readonly image: string;
  readonly env: Readonly<Record<string, string>>;
  readonly ports: readonly string[];
}

interface Job {
  readonly 'runs-on': string;
  readonly services?: Readonly<Record<string, Service>>;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly name: string;
  readonly on: readonly string[];
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

/** Parses the workflow as YAML 1.2, in which "on" is a string. */
async function readWorkflow(): Promise<Workflow> {
  const { parse } = await importPackage('yaml');
  return parse(source, { strict: true, uniqueKeys: true });
}

function assertMembers(value: object, allowed: readonly string[], what: string): void {
  for (const name of Object.keys(value)) assert.ok(allowed.includes(name), `${what}.${name}`);
}

describe('the workflow for GitHub Actions', { skip: missingPackage('yaml') }, () => {
  test('has only known members, and no expressions in its scripts', async () => {
    const workflow = await readWorkflow();
    assertMembers(workflow, ['name', 'on', 'permissions', 'jobs'], 'workflow');
    assert.deepEqual(workflow.on, ['push', 'pull_request']);
    for (const [name, job] of Object.entries(workflow.jobs)) {
      assertMembers(job, ['runs-on', 'services', 'steps'], name);
      assert.equal(job['runs-on'], 'ubuntu-latest');
      for (const service of Object.values(job.services ?? {})) {
        assertMembers(service, ['image', 'env', 'ports'], `${name}.services`);
        for (const port of service.ports) assert.match(port, /^[0-9]+:[0-9]+$/);
      }
      for (const step of job.steps) {
        assertMembers(step, ['name', 'uses', 'run', 'if', 'env', 'with'], `${name}.steps`);
        assert.notEqual(step.uses === undefined, step.run === undefined, JSON.stringify(step));
        if (step.uses !== undefined) assert.match(step.uses, /^actions\/[a-z-]+@v[0-9]+$/);
        for (const value of Object.values(step.env ?? {})) assert.equal(typeof value, 'string');
        // An expression in a script would insert text into it.
        assert.doesNotMatch(step.run ?? '', /\$\{\{/);
      }
    }
  });

  test('sets only existing options, and publishes the ports of the image', async () => {
    const { jobs } = await readWorkflow();
    const variables = new Set([...optionSpecs.keys()].map(formatVariable));
    const [exposed = ''] = parseInstructions('packaging/Dockerfile').filter((line) =>
      line.startsWith('EXPOSE '),
    );
    for (const { services = {} } of Object.values(jobs))
      for (const { env, ports } of Object.values(services)) {
        for (const [name, value] of Object.entries(env)) {
          assert.ok(variables.has(name), name);
          assert.equal(typeof value, 'string', name);
        }
        assert.deepEqual(
          ports.map((port) => port.split(':')[1]),
          exposed.split(' ').slice(1),
        );
      }
    const scripts = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run = '' }) => run));
    const flags =
      scripts
        .join('\n')
        .match(/^countersign serve .*$/gm)
        ?.join(' ')
        .match(/--[a-z-]+/g) ?? [];
    assert.ok(flags.length > 3);
    const known = [...optionSpecs.keys()].map(
      (key) => `--${key.replaceAll(/[A-Z]/g, (each) => `-${each.toLowerCase()}`)}`,
    );
    for (const flag of flags) assert.ok(known.includes(flag), flag);
  });

  const programs = missing('jq') || missing('bash');
  test('reads the secret from the log of the service', { skip: programs }, async (context) => {
    const { jobs } = await readWorkflow();
    const [container] = Object.values(jobs).filter(({ services }) => services !== undefined);
    const [service] = Object.values(container?.services ?? {});
    const environment = { ...service?.env, COUNTERSIGN_PORT: '0' };
    const server = await startProcess(['serve'], { environment, json: true });
    context.after(() => server.signal('SIGTERM'));
    const log = await server.awaitStderr(/"secret":/);

    const folder = temporaryDirectory(context);
    writeFileSync(join(folder, 'log'), `Countersign is ready: ${server.url}\n${log}`);
    writeFileSync(
      join(folder, 'docker'),
      '#!/bin/sh\ntest "$*" = "logs service-1" && cat "$(dirname "$0")/log" >&2\n',
      {
        mode: 0o755,
      },
    );
    const script = container?.steps.find(({ run = '' }) => run.includes('GITHUB_ENV'))?.run ?? '';
    const env = {
      PATH: `${folder}:${process.env['PATH'] ?? ''}`,
      SERVICE: 'service-1',
      GITHUB_ENV: join(folder, 'environment'),
    };
    const { status, stdout, stderr } = spawnSync('bash', ['-e', '-c', script], { env, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    const secret = /"secret":"([^"]+)"/.exec(log)?.[1] ?? '';
    assert.equal(stdout, `::add-mask::${secret}\n`);
    assert.equal(readFileSync(env.GITHUB_ENV, 'utf8'), `COUNTERSIGN_SECRET=${secret}\n`);
    assert.ok(existsSync(env.GITHUB_ENV));
  });
});
