import { missingParameters, oauth1Error, rejectedParameters } from '../../auth/oauth1/error.ts';
import type { OAuth1Parameters } from './parameters.ts';

/** What a request is signed for: a resource, or one of both endpoints that give tokens. */
export type SignedFor = 'resource' | 'request_token' | 'access_token';

const always = ['oauth_consumer_key', 'oauth_signature_method', 'oauth_signature'];
/** What PLAINTEXT may do without (RFC 5849 §3.1). */
const onceOnly = ['oauth_timestamp', 'oauth_nonce'];
const optional = ['oauth_version', 'oauth_body_hash'];
const ofUse: Readonly<Record<SignedFor, readonly string[]>> = {
  resource: ['oauth_token'],
  request_token: ['oauth_callback'],
  access_token: ['oauth_token', 'oauth_verifier'],
};

/** What some clients go on sending after the first request: it is signed, and says nothing new. */
const sentOn: Readonly<Record<SignedFor, readonly string[]>> = {
  resource: ['oauth_callback'],
  // RFC 5849 §2.1: an empty token may stand where there is none.
  request_token: ['oauth_token'],
  access_token: ['oauth_callback'],
};

/** Throws a Problem (400) on parameters that are not known: one could mean something that is not done. */
export function checkNames({ protocol }: OAuth1Parameters, signedFor: SignedFor): void {
  const known = [...always, ...onceOnly, ...optional, ...ofUse[signedFor], ...sentOn[signedFor]];
  const others = [...protocol.keys()].filter((name) => !known.includes(name));
  if (signedFor === 'request_token' && (protocol.get('oauth_token') ?? '') !== '') others.push('oauth_token');
  if (others.length > 0) throw rejectedParameters('They have no meaning here.', others);
}

/** Throws a Problem (400) on another version than 1.0, which needs not be sent. */
export function checkVersion({ protocol }: OAuth1Parameters): void {
  const version = protocol.get('oauth_version');
  if (version === undefined || version === '1.0') return;
  throw oauth1Error('version_rejected', 'oauth_version is 1.0, where it is sent.', {
    oauth_acceptable_versions: '1.0-1.0',
  });
}

/** Throws a Problem (400) where a parameter is missing or empty. */
export function checkRequired({ protocol }: OAuth1Parameters, signedFor: SignedFor): void {
  const mayBeOnceMore = protocol.get('oauth_signature_method') === 'PLAINTEXT';
  const sent = onceOnly.filter((name) => protocol.has(name));
  const needed = mayBeOnceMore && sent.length === 0 ? [] : onceOnly;
  const missing = [...always, ...needed, ...ofUse[signedFor]].filter(
    (name) => (protocol.get(name) ?? '') === '',
  );
  if (missing.length > 0) throw missingParameters(missing);
}
