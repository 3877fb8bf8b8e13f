import type { HttpRequest } from '../../http/message.ts';

/** The names of the loopback interface by which clients may address the control interface. */
const names = ['127.0.0.1', 'localhost', '[::1]'];

/** The port that a host without a port means, over plain HTTP. */
const defaultPort = 80;

/**
 * Returns whether a request is addressed to this port of the loopback interface: by its Host, and in absolute form also by its
 * target, which takes precedence (RFC 9112 §3.2.2). A web page cannot forge either.
 */
export function isForOwnHost(
  { headers: fields, target }: Pick<HttpRequest, 'headers' | 'target'>,
  port: number,
): boolean {
  const [host, ...others] = fields.getAll('host');
  if (host === undefined || others.length > 0 || !isOwn(host, port)) return false;
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(target)?.[1];
  return authority === undefined || isOwn(authority, port);
}

function isOwn(host: string, port: number): boolean {
  const given = host.toLowerCase();
  return names.some((name) => given === `${name}:${port}` || (port === defaultPort && given === name));
}
