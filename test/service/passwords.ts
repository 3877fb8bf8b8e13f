import assert from 'node:assert/strict';
import crypto, { scryptSync } from 'node:crypto';
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect as connectSecurely } from 'node:tls';
import type { ServiceOptions } from '../../src/index.ts';
import { makeIdentity } from '../support/net/transport.ts';
import { Wire, type WireReply } from '../support/net/wire.ts';
import { formatOutcome, openTestServer, type TestServer } from '../support/service/test-server.ts';

/** The line of Basic for a user and a password in UTF-8, or for bytes. */
export function basic(pair: string | Uint8Array): string {
  return `Authorization: Basic ${Buffer.from(pair).toString('base64')}`;
}

/** A password as a users file keeps it; hashed by what Node.js has, with little cost. */
export function hashed(password: string, salt = 'sixteen bytes it'): { readonly hash: string } {
  const hash = scryptSync(password, salt, 32, { N: 1024, r: 8, p: 1 });
  const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64');
  return { hash: `scrypt$1024$8$1$${base64(salt)}$${base64(hash)}` };
}

/** How many hashes were computed since the last look, in the whole process; `begun` is called as each is begun. */
export function countHashes(context: TestContext, begun: () => void = () => {}): () => number {
  const { scrypt } = crypto;
  const counted = context.mock.method(crypto, 'scrypt', (...given: Parameters<typeof scrypt>) => {
    begun();
    scrypt(...given);
  });
  syncBuiltinESMExports();
  context.after(() => {
    counted.mock.restore();
    syncBuiltinESMExports();
  });
  return () => {
    const count = counted.mock.callCount();
    counted.mock.resetCalls();
    return count;
  };
}

/** A test server on two ports: plain HTTP, and HTTPS. */
export interface BothWays extends TestServer {
  readonly ca: string;
  readonly securePort: number;
}

/** Opens a server on both. */
export async function openBothWays(options: ServiceOptions = {}): Promise<BothWays> {
  const testServer = await openTestServer(options);
  const tls = makeIdentity();
  const { port: securePort } = await testServer.service.listen({ tls });
  return { ...testServer, securePort, ca: tls.cert };
}

/** How a client comes to the server. */
export interface Way {
  readonly secure?: boolean;
  /** The client's address, one of this host. */
  readonly from?: string;
}

/** Connects to a server, over TLS or not. */
export async function connected(
  server: Pick<BothWays, 'port' | 'securePort' | 'ca'>,
  { secure = false, from }: Way = {},
): Promise<Wire> {
  const carrier = connect({
    port: secure ? server.securePort : server.port,
    host: '127.0.0.1',
    allowHalfOpen: true,
    noDelay: true,
    ...(from === undefined ? {} : { localAddress: from }),
  });
  await once(carrier, 'connect');
  if (!secure) return new Wire(carrier);
  const socket = connectSecurely({ socket: carrier, ca: server.ca, servername: 'localhost' });
  await once(socket, 'secureConnect');
  return new Wire(socket, carrier);
}

/** Sends bytes on a connection of their own and gives the first reply. */
export async function replyTo(server: BothWays, bytes: string, way?: Way): Promise<WireReply> {
  const wire = await connected(server, way);
  await wire.send(bytes);
  const reply = await wire.reply();
  await wire.close();
  return reply;
}

/** The same, and gives its outcome. */
export async function outcomeFrom(server: BothWays, bytes: string, way?: Way): Promise<string> {
  return formatOutcome(await replyTo(server, bytes, way));
}

/** Every value that a field has in a reply. */
export function listValues({ fields }: WireReply, name: string): string[] {
  return fields.filter(([known]) => known.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

/** Makes a test of each row, which has its name first; `skip` says why all are skipped. */
export function each<Row extends readonly [name: string, ...rest: unknown[]]>(
  rows: readonly Row[],
  check: (context: TestContext, row: Row) => Promise<void>,
  skip: string | false = false,
): void {
  assert.equal(new Set(rows.map(([name]) => name)).size, rows.length, 'two rows have one name');
  for (const row of rows) test(row[0], { skip }, (context) => check(context, row));
}
