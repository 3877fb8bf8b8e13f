/** Services that answer signed requests in this process. Each request has its own nonce, and is signed beforehand. */

import { signRequest } from '../../../src/client/sign.ts';
import { createRequest } from '../../../src/http/message.ts';
import type { ServiceOptions } from '../../../src/service/options.ts';
import { type ControllableService, createControllableService } from '../../../src/service/service.ts';

import { openDurableStore } from '../../../src/store/open-durable-store.ts';
import { article, articles } from '../../data/articles.ts';
import type { Peer } from '../peers.ts';

const user = 'johndoe';
const secret = 'KZ4pT2mQv8sWx1Rb6nYc3dFg7hJk9LzE';
const target = `${articles}/1`;
const content = JSON.stringify(article(1));

/** Each service is opened only when it is measured; one of them in a directory. */
export const servicePeers: ReadonlyMap<string, (directory: string) => Promise<Peer>> = new Map([
  ['countersign, signed GET', async () => peerOf('GET', await inMemory())],
  ['countersign, signed PUT', async () => peerOf('PUT', await inMemory())],
  [
    'countersign, signed PUT into a data directory',
    async (directory: string) => peerOf('PUT', await inDirectory(directory)),
  ],
]);

const options: ServiceOptions = {
  users: { [user]: { secret } },
  seed: { [articles]: [article(1)] },
  maxNoncesPerUser: 10_000_000,
};

async function inMemory(): Promise<ControllableService> {
  const service = createControllableService(options);
  await service.ready;
  return service;
}

/** Without syncs, which would take most of the time. */
async function inDirectory(directory: string): Promise<ControllableService> {
  const store = await openDurableStore(directory, { durability: 'os', maxNoncesPerUser: 10_000_000 });
  const { maxNoncesPerUser: _, ...others } = options;
  const service = createControllableService({ ...others, store });
  await service.ready;
  return service;
}

function peerOf(method: 'GET' | 'PUT', service: ControllableService): Peer {
  return () => {
    const fields = signRequest({ method, url: `http://localhost${target}`, user, secret });
    const parts = { method, target, headers: Object.entries(fields) };
    const request =
      method === 'GET'
        ? createRequest(parts)
        : createRequest({
            ...parts,
            headers: [...parts.headers, ['Content-Type', 'application/json']],
            body: content,
          });
    return () => service.respond(request).then(({ status }) => status === 200);
  };
}
