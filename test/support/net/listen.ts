import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';
import type { TestContext } from 'node:test';

/** Listens on a free port of 127.0.0.1 until the test ends. Returns the origin over plain HTTP. */
export async function listen(context: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    if (server instanceof HttpServer) server.closeAllConnections();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return `http://127.0.0.1:${address.port}`;
}
