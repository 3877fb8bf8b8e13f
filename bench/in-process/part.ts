/** Measures one way to request an article in this process; each order runs one round. */

import { Agent, createServer, get } from 'node:http';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Double, startDouble } from '../../src/double/index.ts';
import { createRequest } from '../../src/http/message.ts';
import { createControllableService } from '../../src/service/service.ts';

import { article, articles } from '../data/articles.ts';
import type { Answer } from '../measure/parts/part.ts';
import { repeating } from '../measure/timing.ts';

const target = `${articles}/1`;
const seed = { [articles]: [article(1)] };

/** Creates the contestant with this name. */
export async function part(name = ''): Promise<Answer> {
  const ask = await asking(name);
  return repeating(async (count) => {
    for (let number = 0; number < count; number += 1) await ask();
  });
}

async function asking(name: string): Promise<() => Promise<unknown>> {
  switch (name) {
    case 'countersign, handle':
      return handle();
    case 'countersign, double.fetch': {
      const double = await startDouble({ seed });
      return async () => (await double.fetch(target)).text();
    }
    case 'refused, and not read':
      return refused(() => undefined);
    case 'refused, and its entry printed':
      return refused((double) => String(double.journal.last()));
    case 'start with @octokit/openapi': {
      const partner = fileURLToPath(
        new URL('../../test/node_modules/@octokit/openapi/generated/api.github.com.json', import.meta.url),
      );
      return async () => (await startDouble({ partner, https: false })).close();
    }
    case 'light-my-request':
      return inject();
    case 'loopback http.request': {
      const url = await listening();
      const agent = new Agent({ keepAlive: true });
      return () =>
        new Promise((resolve, reject) => {
          get(url, { agent }, (response) => response.resume().on('end', resolve)).on('error', reject);
        });
    }
    case 'loopback fetch': {
      const url = await listening();
      return async () => (await fetch(url)).text();
    }
    default:
      throw new RangeError(`there is no way called ${name}`);
  }
}

/** Returns a request whose query was not signed, and whose refusal is then read. */
async function refused(read: (double: Double) => unknown): Promise<() => Promise<unknown>> {
  const double = await startDouble({ https: false, users: ['ann'], maxAuthFailures: 0, seed });
  const client = double.as('ann');
  return async () => {
    const headers = await client.signRequest({ url: articles });
    const { status } = await double.fetch(`${articles}?limit=3`, { headers });
    if (status !== 401) throw new Error(`a wrong signature is answered ${status}`);
    return read(double);
  };
}

async function handle(): Promise<() => Promise<unknown>> {
  const service = createControllableService({ seed });
  await service.ready;
  const request = createRequest({ method: 'GET', target });
  return () => service.respond(request);
}

interface Fastify {
  get(path: string, handler: () => unknown): void;
  inject(request: { method: string; url: string }): Promise<{ payload: string }>;
}

/** Calls Fastify without a socket, with its own `inject`. */
function inject(): () => Promise<unknown> {
  const app: Fastify = createRequire(import.meta.url)('fastify')();
  app.get('/articles/:id', () => article(1));
  return async () => (await app.inject({ method: 'GET', url: target })).payload;
}

function listening(): Promise<string> {
  const content = JSON.stringify(article(1));
  const server = createServer((_, response) => response.end(content));
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}${target}`);
    });
  });
}
