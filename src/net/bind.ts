import type { Server } from 'node:net';

/** Connections that may wait to be accepted, as many as node:net has. */
const backlog = 511;

/** The addresses that servers listen on, as a rule, and their families: what node:net knows an address by takes longer to load. */
const families: ReadonlyMap<string, 4 | 6> = new Map([
  ['127.0.0.1', 4],
  ['0.0.0.0', 4],
  ['::1', 6],
  ['::', 6],
]);

/**
 * Has a server listen, or says by its 'error' why it cannot. Before it binds an address, `listen` of node:net loads node:cluster
 * and what looks up names, which is a tenth of a start. Without a parent that shares its ports there is nothing for the one to do,
 * and for one of these addresses nothing for the other: then what `listen` ends in is called by the name under which node:net has kept it
 * for older programs. Throws RangeError for a port that is none.
 */
export function bind(server: Server, host: string, port: number): void {
  const family = families.get(host);
  const bindNow: unknown = Reflect.get(server, '_listen2');
  const isPort = Number.isInteger(port) && port >= 0 && port <= 65_535;
  if (family !== undefined && isPort && process.channel === undefined && typeof bindNow === 'function')
    Reflect.apply(bindNow, server, [host, port, family, backlog]);
  else server.listen({ host, port });
}
