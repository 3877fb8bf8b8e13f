import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { article } from '../../data/articles.ts';
import type { Contestant, Stage } from '../../measure/benchmark.ts';
import { type Loader, type LoadOptions, type Running, startServer } from '../client/load.ts';
import type { Requests } from '../client/requests.ts';

/** Returns a contestant for a server under load. It is skipped if the server is a text. */
export function underLoad(
  loader: Loader,
  name: string,
  server: Running | string,
  requests: Requests,
  options: LoadOptions = {},
): Contestant {
  return {
    name,
    ours: name.startsWith('countersign'),
    // A contestant with its own warm-up time has much code to compile and warms up alone.
    ...(options.part === undefined && options.warmUp === undefined && { warmsUp: 'beside others' }),
    async measure(round) {
      if (typeof server === 'string') return server;
      try {
        return await loader.round(server, requests, round, options);
      } catch (error) {
        throw new Error(`${name}: ${error instanceof Error ? error.message : error}`, { cause: error });
      }
    },
  };
}

/** Returns the peers that serve articles, each with the same requests. */
export async function peersUnderLoad(
  stage: Stage,
  loader: Loader,
  requests: Requests,
  names: readonly string[],
  { articles = 1, ...options }: LoadOptions & { readonly articles?: number } = {},
): Promise<Contestant[]> {
  return Promise.all(
    names.map(async (name) => {
      const given = name === 'json-server' ? [database(stage, articles)] : [];
      return underLoad(loader, name, await startServer(stage, name, ...given), requests, options);
    }),
  );
}

/** Writes a file for json-server with `count` articles. */
function database(stage: Stage, count: number): string {
  const file = join(stage.scratch, `json-server-${count}.json`);
  const items = Array.from({ length: count }, (_, index) => ({ id: index + 1, ...article(index + 1) }));
  writeFileSync(file, JSON.stringify({ articles: items }));
  return file;
}
