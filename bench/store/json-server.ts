/** json-server over a file, in a process of its own: prints its port when it listens. Argument: the file. */
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

interface Express {
  use(handler: unknown): void;
  listen(port: number, host: string, then: () => void): { address(): AddressInfo };
}
const jsonServer: { create(): Express; router(file: string): unknown } = createRequire(import.meta.url)(
  'json-server',
);

const server = jsonServer.create();
server.use(jsonServer.router(process.argv[2] ?? ''));
const listening = server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${listening.address().port}`),
);
