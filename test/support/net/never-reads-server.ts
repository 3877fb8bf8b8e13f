/** A program that serves a small response on a free port until its input ends, and prints its memory when it is asked to. */
import { listen } from '../../../src/net/listener.ts';
import { makeIdentity } from './transport.ts';

const limits = {
  headers: 16384,
  target: 8192,
  connections: 100,
  headerTimeout: 30_000,
  requestTimeout: 30_000,
};
const { port } = await listen({
  host: '127.0.0.1',
  port: 0,
  limits,
  tls: process.argv[2] === 'tls' ? makeIdentity() : undefined,
  respond: async () => ({ status: 200, headers: [['Content-Type', 'text/plain']], body: 'x'.repeat(500) }),
  refuse: () => ({ status: 503, headers: [], body: '' }),
});
process.stdout.write(`${port}\n`);
process.stdin.on('data', () => {
  globalThis.gc?.(); // what could be collected is not held by anybody
  const { heapUsed, external } = process.memoryUsage();
  process.stdout.write(`${heapUsed + external}\n`);
});
process.stdin.on('end', () => process.exit());
