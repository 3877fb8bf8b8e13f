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
  options: LoadOptions = {},
): Promise<Contestant[]> {
  return Promise.all(
    names.map(async (name) => underLoad(loader, name, await startServer(stage, name), requests, options)),
  );
}
