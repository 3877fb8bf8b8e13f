import type { Outcome } from '../report.ts';
import { findInLastSegment } from '../target.ts';
import { type OAuthFlow, parseRedirect } from './flow.ts';
import type { OAuthCase } from './report.ts';

/** Returns attempts with redirect URIs that are similar to the registered one. */
export function redirectUriCases(flow: OAuthFlow): readonly OAuthCase[] {
  const why =
    'Redirect URIs are compared as strings, and nothing is sent to any other one (RFC 9700 §2.1, RFC 6749 §3.1.2.4).';
  return listVariants(flow.client.redirectUri).map(([change, uri]) => [
    `the redirect URI ${change}`,
    why,
    async () => judgeRedirect(await flow.authorize({ redirect_uri: uri, ...s256 }), uri),
  ]);
}

/** The example of RFC 7636 Appendix B. */
const s256 = {
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
};

/** A redirect with a code, or to the variant, even with an error, has failed. */
function judgeRedirect(location: string | undefined, variant: string): Outcome | undefined {
  if (location === undefined) return undefined;
  const hasCode = parseRedirect(location).has('code');
  const followed = location.startsWith(variant.replace(/#.*$/s, ''));
  if (!hasCode && !followed) return undefined;
  const note = hasCode ? 'the server issued a code' : 'the server redirected there with an error';
  return { verdict: 'failed', status: undefined, note };
}

/** A redirect URI, split without normalization. */
interface Parts {
  readonly scheme: string;
  /** Empty if the URI has no authority. */
  readonly host: string;
  readonly port: string;
  readonly path: string;
  readonly query: string;
}

type Variant = readonly [change: string, uri: string];

/** Returns URIs that differ from a registered one, each with a description of the difference. */
function listVariants(registered: string): Variant[] {
  const form = /^([a-z][a-z0-9+.-]*:)(?:\/\/(\[[^\]]*\]|[^/?#:@]*)(:[0-9]+)?)?([^?#]*)(\?[^#]*)?/i;
  const [, scheme = '', host = '', port = '', path = '', query = ''] = form.exec(registered) ?? [];
  const parts = { scheme, host, port, path, query };
  const variants = [...pathVariants(parts), ...queryVariants(parts), ...hostVariants(parts)];
  const first = new Map(variants.toReversed().map(([, uri], at) => [uri, variants.length - 1 - at]));
  return variants.filter(([, uri], at) => uri !== registered && first.get(uri) === at);
}

function joinParts({ scheme, host, port, path, query }: Parts): string {
  return `${scheme}${host === '' ? '' : `//${host}${port}`}${path}${query}`;
}

function pathVariants(parts: Parts): Variant[] {
  const { path } = parts;
  const at = findInLastSegment(path, /[A-Za-z]/);
  const letter = path.charAt(at);
  const replaceLetter = (other: string): string =>
    at < 0 ? path : `${path.slice(0, at)}${other}${path.slice(at + 1)}`;
  const otherCase = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  const changes: readonly Variant[] = [
    ['differs by a trailing slash', path.endsWith('/') ? path.slice(0, -1) : `${path}/`],
    ['has another path', '/evil'],
    ['has a longer path', `${path.replace(/\/$/, '')}/evil`],
    ['leaves its path by a dot segment', `${path.replace(/\/$/, '')}/../evil`],
    ['has its path in another case', replaceLetter(otherCase)],
    ['has a percent-encoded letter', replaceLetter(`%${letter.charCodeAt(0).toString(16)}`)],
  ];
  return changes.map(([change, other]) => [change, joinParts({ ...parts, path: other })]);
}

function queryVariants(parts: Parts): Variant[] {
  const { query } = parts;
  const uri = joinParts(parts);
  return [
    ['has one more parameter', `${uri}${query === '' ? '?' : '&'}evil=1`],
    ['has a fragment', `${uri}#evil`],
    ['is followed by a space', `${uri} `],
  ];
}

/** Names of the own host, which are registered separately (RFC 8252 §8.3). */
const loopback = new Map([
  ['localhost', '127.0.0.1'],
  ['127.0.0.1', 'localhost'],
  ['[::1]', '127.0.0.1'],
]);

function hostVariants(parts: Parts): Variant[] {
  const { scheme, host, port } = parts;
  if (host === '') return [];
  const at = (other: string, otherPort = port): string =>
    joinParts({ ...parts, host: other, port: otherPort });
  const variants: Variant[] = [
    ['has another host', at('evil.example')],
    ['has the registered host as user information', at(`${host}@evil.example`)],
    ['has user information', at(`evil@${host}`)],
    ['has the registered host as the beginning of another one', at(`${host}.evil.example`)],
    ['has its host in capitals', at(host.toUpperCase())],
  ];
  if (scheme.toLowerCase() === 'https:')
    variants.push(['has http for https', joinParts({ ...parts, scheme: 'http:' })]);
  const sameHost = loopback.get(host);
  // The port of a loopback address may differ (RFC 8252 §7.3).
  if (sameHost !== undefined) return [...variants, [`has ${sameHost} for ${host}`, at(sameHost)]];
  return [
    ...variants,
    ['has a sub-domain', at(`evil.${host}`)],
    ['has another port', at(host, port === ':8444' ? ':8445' : ':8444')],
  ];
}
