// Mistakes in a host: another port or name, and the public one in front of a proxy.
import { domainToUnicode } from 'node:url';
import { hostForms } from '../../http/host.ts';
import { toOctets } from '../../http/syntax/octets.ts';
import { splitTarget } from '../../http/target.ts';
import type { PartKind } from '../message.ts';
import type { Facts, Mistake } from './mistake.ts';

/** The mistakes in the host that is signed with a target or a path. */
export const addedHosts: readonly Mistake[] = [
  [
    'the host was signed with the path',
    (target, { host }) => listOrigins(host).map((origin) => origin + target),
  ],
  [
    'the host was signed with the path, with {authority} instead of {host}',
    (target, { host }) =>
      otherPorts(host).flatMap((other) => listOrigins(other).map((origin) => origin + target)),
  ],
  [
    'the public host was signed with the path, in front of a proxy',
    (target, facts) =>
      listForwardedHosts(facts).flatMap((host) => listOrigins(host).map((origin) => origin + target)),
  ],
  ['the host was sent in the target, but not signed', (target) => removeOrigin(target)],
];

/** Names of a machine for itself, and for the programs of its containers. */
const localHosts = [
  'localhost',
  '127.0.0.1',
  '[::1]',
  '0.0.0.0',
  'host.docker.internal',
  'gateway.docker.internal',
  'host.containers.internal',
  'localstack',
  'minio',
];

/** Ports on which programs listen by default. */
const usualPorts = [':80', ':443', ':3000', ':4566', ':5000', ':8000', ':8080', ':8443', ':9000'];

/** The mistakes in a host. */
export const hostMistakes: readonly Mistake[] = [
  ['the host was signed without its port', (host) => host.replace(/:\d*$/, '')],
  [
    'the host was signed with the default port',
    (host, { request }) => hostForms(host, request.connection.secure)[1],
  ],
  [
    'the host was signed with the default port of the other scheme',
    (host, { request }) => hostForms(host, !request.connection.secure)[1],
  ],
  [
    'the host was signed with another port than it was sent with',
    (host) => ['443', '80'].map((port) => host.replace(/:\d+$/, `:${port}`)),
  ],
  [
    'the host was signed in another letter case',
    (host, facts) =>
      [host.toLowerCase(), facts.host, host.toUpperCase()].filter(
        (other) => other.toLowerCase() === host.toLowerCase(),
      ),
  ],
  ['the host that arrived, {authority}, was signed in place of the public one', (_, facts) => facts.host],
  ['the scheme was signed with the host', (host) => [`https://${host}`, `http://${host}`]],
  ['the public host was signed, in front of a proxy', (_, facts) => listForwardedHosts(facts)],
  ['the host was signed as localhost', (host) => host.replace(/^127\.0\.0\.1/, 'localhost')],
  ['the host was signed as 127.0.0.1', (host) => host.replace(/^localhost/, '127.0.0.1')],
  ['the host was left out', () => ''],
  ['the host was signed in Unicode, and sent in ASCII (Punycode)', (host) => unicodeHost(host)],
  [
    'the host was signed with the first segment of the path in front, as a bucket in virtual-hosted style: {authority}',
    (host, { target }) => {
      const [, segment] = /^\/([a-z0-9][a-z0-9.-]*)(?:[/?]|$)/i.exec(target) ?? [];
      return segment === undefined ? undefined : `${segment}.${host}`;
    },
  ],
  [
    'the first label of the host was not signed: {authority} was',
    (host) => (/^[a-z][a-z0-9-]*\.[a-z]/i.test(host) ? host.slice(host.indexOf('.') + 1) : undefined),
  ],
  ['the host was signed with a dot at its end', (host) => host.replace(/(:\d+)?$/, '.$1')],
];

/** The mistakes in a host that are tried last, because they are many. */
export const furtherHostMistakes: readonly Mistake[] = [
  ['the host was signed with a slash at its end', (host) => `${host}/`],
  [
    'another name or port of this machine was signed as the host: {authority}',
    (host) => {
      const port = /:\d+$/.exec(host)?.[0] ?? '';
      return [host.replace(/:\d+$/, ''), ...localHosts].flatMap((name) =>
        [port, '', ...usualPorts].map((each) => name + each),
      );
    },
  ],
];

function unicodeHost(host: string): string | undefined {
  if (!/xn--/i.test(host)) return undefined;
  const [name = '', port = ''] = /^(.*?)(:\d+)?$/s.exec(host)?.slice(1) ?? [];
  return toOctets(domainToUnicode(name) + port);
}

/** Returns the mistakes of a client that signs a host which only the configuration of the service shows, by kind of part. */
export function listPublicHostMistakes(
  hosts: readonly string[],
): Readonly<Partial<Record<PartKind, readonly Mistake[]>>> {
  const withPath: readonly Mistake[] = [
    [
      'the public host was signed with the path, in front of a proxy',
      (target) => hosts.flatMap((host) => listOrigins(host).map((origin) => origin + target)),
    ],
  ];
  const host: Mistake = ['the public host was signed, in front of a proxy: {signed}', () => hosts];
  return {
    target: withPath,
    path: withPath,
    host: [host],
    url: [
      [
        'the public host was signed, in front of a proxy: {authority}',
        (url) =>
          hosts.flatMap((each) =>
            ['http:', 'https:'].map((scheme) => url.replace(/^https?:\/\/[^/?]*/i, `${scheme}//${each}`)),
          ),
      ],
    ],
  };
}

/** Fields in which a proxy sends the host that the client addressed. */
const hostFields = ['x-forwarded-host', 'x-original-host', 'x-forwarded-server'];

export function listForwardedHosts({ request: { headers: fields } }: Facts): string[] {
  const forwarded = /(?:^|[;,\s])host="?([^";,\s]+)/i.exec(fields.get('forwarded') ?? '')?.[1];
  const pages = ['origin', 'referer'].map((name) => /^https?:\/\/([^/]+)/.exec(fields.get(name) ?? '')?.[1]);
  return [forwarded, ...hostFields.map((name) => fields.get(name)), ...pages].filter(
    (host) => host !== undefined,
  );
}

function listOrigins(host: string): string[] {
  return [`http://${host}`, `https://${host}`, `//${host}`, host];
}

function otherPorts(host: string): string[] {
  const name = host.replace(/:[0-9]*$/, '');
  return [name, `${name}:80`, `${name}:443`].filter((other) => other !== host);
}

/** Returns a target without the scheme and the host in front of it. */
export function removeOrigin(url: string): string {
  return url.slice(splitTarget(url).origin.length) || '/';
}
