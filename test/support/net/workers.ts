/** A program whose workers, of node:cluster, listen on one port, whichever is free; each answers with the number of its process. */
import cluster from 'node:cluster';
import { listen } from '../../../src/net/listener.ts';

const limits = { headers: 1000, target: 1000, connections: 10, headerTimeout: 5000, requestTimeout: 5000 };
const count = 2;

async function work(): Promise<void> {
  const { port } = await listen({
    host: '127.0.0.1',
    port: 0,
    limits,
    respond: async () => ({
      status: 200,
      headers: [['Date', 'Tue, 15 Nov 1994 08:12:31 GMT']],
      body: `${process.pid}`,
      close: true,
    }),
    refuse: () => ({ status: 500, headers: [], body: '' }),
  });
  process.send?.({ port });
}

async function lead(): Promise<void> {
  const ports = new Set<number>();
  for (let started = 0; started < count; started += 1) {
    const worker = cluster.fork();
    ports.add(
      await new Promise<number>((resolve, reject) => {
        worker.once('message', (message: { readonly port: number }) => resolve(message.port));
        worker.once('exit', (status) => reject(new Error(`a worker ended with ${status}`)));
      }),
    );
  }
  console.log([...ports].join());
  process.stdin.on('end', () => process.exit()).resume();
}

await (cluster.isPrimary ? lead() : work());
