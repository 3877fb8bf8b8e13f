// Reasons of refusals of OAuth 2.0. None contains a secret or a token.

import { formatCount } from '../../counted.ts';
import { findClosestMatch } from '../../did-you-mean.ts';
import { parseBasicCredentials } from '../../http/headers/basic-credentials.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { nearestUriDifference, uriDifference } from '../../http/uri-difference.ts';
import { describeSentKey, undoChanges } from '../../schemes/explain/sent-keys.ts';
import type { AuthenticationTrace, KnownSecret } from '../../schemes/trace.ts';
import { type Client, isConfidential } from '../clients.ts';
import type { OAuthContext } from '../context.ts';
import type { Found } from '../grants.ts';
import type { ClientAuthenticationMethod } from '../oauth2-options.ts';
import { formatTokenName, type Reason, tokenReason } from '../reasons.ts';
import { describeDigest, hashSha256 } from '../sha256.ts';

/** What a client sent to exchange a code or a refresh token. */
interface Exchange {
  readonly client: Client;
  readonly values: ReadonlyMap<string, string>;
  /** The thumbprint of the key that signed its proof (RFC 9449); undefined without one. */
  readonly key?: string | undefined;
}

/** Returns why a code was refused, in the order of the checks. */
export async function codeReason(
  context: OAuthContext,
  { client, values, key }: Exchange,
  found: Found | undefined,
): Promise<Reason> {
  if (found === undefined) return describeUnknown(context, 'code', values.get('code'));
  const { token } = found;
  if (token.used) return { check: 'reuse', hint: 'the code was used before; its grant is revoked' };
  return (
    otherClient(client, found) ??
    redirectReason(values.get('redirect_uri'), token.details['redirect_uri'] ?? '') ??
    verifierReason(values.get('code_verifier'), token.details['code_challenge'] ?? '') ??
    keyReason(key, found) ??
    (await stateReason(context, found)) ?? {
      // A concurrent request used the code first.
      check: 'reuse',
      hint: 'the code was used by another request at the same time; its grant is revoked',
    }
  );
}

/** Returns why a refresh token was refused. */
export async function refreshReason(
  context: OAuthContext,
  { client, values, key }: Exchange,
  found: Found | undefined,
): Promise<Reason> {
  if (found === undefined) return describeUnknown(context, 'refresh token', values.get('refresh_token'));
  return (
    otherClient(client, found) ??
    keyReason(key, found) ??
    (await stateReason(context, found)) ?? {
      check: 'reuse',
      hint: 'the refresh token was used by another request at the same time; its grant is revoked',
    }
  );
}

/** Returns why a bearer token was refused. */
export async function accessReason(
  context: OAuthContext,
  found: Found | undefined,
  value: string,
): Promise<Reason> {
  if (found === undefined) return describeUnknown(context, 'access token', value);
  return (await stateReason(context, found)) ?? { check: 'token', hint: 'the access token is not valid' };
}

/** Returns the stored token of any kind with this value; undefined if there is none. */
export async function findAnyToken({ grants }: OAuthContext, value: string): Promise<Found | undefined> {
  const found = await Promise.all([
    ...(['code', 'refresh', 'access'] as const).map((kind) => grants.find(value, 'oauth2', kind)),
    grants.find(value, 'oauth1', 'access'),
  ]);
  return found.find((each) => each !== undefined);
}

/** The form of codes and tokens. Another text is not looked up. */
const tokenForm = /^(?:[\w-]{43}|eyJ[\w-]+\.[\w-]+\.[\w-]+)$/;

/** Returns why no token of this kind is stored: another one was sent, or a text that shows what happened to it. */
async function describeUnknown(context: OAuthContext, what: string, value = ''): Promise<Reason> {
  const check = what === 'code' ? 'code' : 'token';
  const other = await findAnyToken(context, value);
  if (other !== undefined) {
    const version = { oauth1: 'OAuth 1.0a', oauth2: 'OAuth 2.0' }[other.token.mechanism];
    const article = what === 'access token' ? 'an' : 'a';
    return {
      check,
      hint: `the ${formatTokenName(other.token)} of ${version} was sent instead of ${article} ${what}`,
    };
  }
  for (const [hint, meant] of undoChanges(value, 'token'))
    if (tokenForm.test(meant) && (await findAnyToken(context, meant)) !== undefined)
      return { check, hint: hint.replace('the token', `the ${what}`) };
  if (what === 'access token' && typeof parseBasicCredentials(value) !== 'string')
    return {
      check,
      hint: 'a name and a password in base64 were sent, as for Basic, in place of an access token',
    };
  const further = /^([^&]*)&/.exec(value)?.[1];
  if (further !== undefined && (await findAnyToken(context, further)) !== undefined)
    return { check, hint: `the ${what} was sent together with the parameters after it` };
  return {
    check,
    hint: `the ${what} is unknown: it was not issued here, was truncated or changed, or was deleted after it expired`,
  };
}

function stateReason(context: OAuthContext, found: Found): Promise<Reason | undefined> {
  return tokenReason(found, context.clients.find(found.token.client), context);
}

function otherClient(client: Client, { token }: Found): Reason | undefined {
  if (token.client === client.id) return undefined;
  return {
    check: 'client',
    hint: `the ${formatTokenName(token)} was issued to another client, not to ${client.id}`,
  };
}

/** Returns why a token that is bound to a key was refused (RFC 9449); undefined if it is bound to none, or to that of the proof. */
function keyReason(key: string | undefined, { token }: Found): Reason | undefined {
  const { jkt } = token.details;
  if (jkt === undefined || jkt === key) return undefined;
  const sent = key === undefined ? 'no DPoP proof was sent' : `the proof is signed by ${key}`;
  return { check: 'jkt', hint: `the ${formatTokenName(token)} is bound to the key ${jkt}, and ${sent}` };
}

/** Returns how a redirect URI differs from the expected one; undefined if it does not. */
function redirectReason(sent: string | undefined, expected: string): Reason | undefined {
  if (sent === expected) return undefined;
  const check = 'redirect_uri';
  if (sent === undefined)
    return { check, hint: `redirect_uri is missing; it was ${expected} in the authorization request` };
  const difference = uriDifference(sent, expected);
  return {
    check,
    hint: `redirect_uri is ${sent}, but it was ${expected} in the authorization request${difference}`,
  };
}

/** Returns why an authorization request names no registered client with its redirect URI. */
export function registrationReason(id: string, client: Client | undefined, sent: string): Reason {
  if (client === undefined) return { check: 'client', hint: `there is no client ${id}` };
  const check = 'redirect_uri';
  if (client.redirectUris.length === 0) return { check, hint: `the client ${id} has no redirect_uri` };
  const near = nearestUriDifference(sent, client.redirectUris);
  return { check, hint: `the client ${id} exists, but ${sent} is not among its redirect URIs${near}` };
}

/** Returns why a code challenge was refused (RFC 7636 §4.3, §4.4.1). */
export function challengeReason(challenge: string | undefined, method: string | undefined): Reason {
  const check = 'code_challenge';
  if (challenge === undefined) return { check, hint: 'code_challenge is missing' };
  if (method === undefined) return { check, hint: 'code_challenge_method is missing, which means plain' };
  if (method !== 'S256') return { check, hint: `code_challenge_method is ${method}` };
  const mistake = /^[0-9a-f]{64}$/i.test(Buffer.from(challenge, 'base64url').toString('latin1'))
    ? 'the verifier was hashed as hexadecimal, which was encoded in base64url'
    : /^[0-9a-f]{64}$/i.test(challenge)
      ? 'the verifier was hashed as hexadecimal'
      : /^[A-Za-z0-9+/]{43}=$/.test(challenge)
        ? 'it is base64; base64url without padding is required'
        : `it has ${formatCount(challenge.length, 'character')}`;
  return { check, hint: `the code_challenge is not base64url of a SHA-256: ${mistake}` };
}

/** Returns why a verifier does not match a challenge (RFC 7636 §4.6); undefined if it does. */
function verifierReason(verifier: string | undefined, challenge: string): Reason | undefined {
  const check = 'code_verifier';
  if (challenge === '')
    return verifier === undefined
      ? undefined
      : { check, hint: 'a code_verifier was sent, and the code was requested without a code_challenge' };
  if (verifier === undefined) return { check, hint: 'code_verifier is missing' };
  const computed = hashSha256(verifier);
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) {
    const hint = `code_verifier has ${formatCount(verifier.length, 'character')}; 43 to 128 out of A-Z a-z 0-9 - . _ ~ are required`;
    return { check, hint };
  }
  if (computed === challenge) return undefined;
  const hint = `the code_verifier has the challenge ${computed}, but the authorization request had ${challenge}`;
  return { check, hint: `${hint}${describeDigest(challenge, verifier).replace(': it ', ': the verifier ')}` };
}

/**
 * Returns how a client tried to authenticate if that is not supported: with another method, or with the scheme DPoP (RFC 9449). It depends
 * on nothing but the request and the options.
 */
export function findUnsupportedAuthentication(
  { headers: fields }: IncomingRequest,
  presented: readonly { readonly method: ClientAuthenticationMethod }[] | Error,
  supported: readonly ClientAuthenticationMethod[],
): Reason | undefined {
  const check = 'client';
  const method = presented instanceof Error ? undefined : presented[0]?.method;
  if (method !== undefined && !supported.includes(method))
    return {
      check,
      hint: `the client authenticates with ${method}, which is not supported; supported: ${supported.join(', ')} (oauth2.clientAuthentication)`,
    };
  const [scheme] = /^(?:dpop|bearer)(?= |$)/i.exec(fields.get('authorization') ?? '') ?? [];
  if (scheme === undefined) return undefined;
  const name = scheme.toLowerCase() === 'dpop' ? 'DPoP was sent (RFC 9449)' : 'Bearer was sent';
  return {
    check,
    hint: `the scheme ${name}, which is for resources; send the client secret with Basic`,
  };
}

/** Returns why a request object is of no use (RFC 9101, RFC 9126); undefined if none was sent. */
export function requestObjectReason(values: ReadonlyMap<string, string>): Reason | undefined {
  const check = 'parameters';
  if (values.has('request_uri'))
    return {
      check,
      hint: 'request_uri was sent (PAR, RFC 9126, or JAR, RFC 9101), which is not supported; send all parameters in the query',
    };
  return values.has('request')
    ? {
        check,
        hint: 'request was sent (JAR, RFC 9101), which is not supported; send all parameters in the query',
      }
    : undefined;
}

/** Returns why a client could not be authenticated. Only a journal shows it. */
export function clientReason(
  id: string,
  client: Client | undefined,
  secret: string | undefined,
  { headers: fields }: IncomingRequest,
  authTrace: AuthenticationTrace | undefined,
): Reason {
  const secrets = authTrace?.knowledge?.secrets.filter(({ owner }) => owner === 'client') ?? [];
  const hint = clientHint(id, client, secret, secrets);
  if (client?.secret === undefined || secret !== undefined || !fields.has('dpop'))
    return { check: 'client', hint, isPrivate: true };
  return { check: 'client', hint: `${hint}; a DPoP proof (RFC 9449) does not replace it`, isPrivate: true };
}

function clientHint(
  id: string,
  client: Client | undefined,
  secret: string | undefined,
  known: readonly KnownSecret[],
): string {
  if (known.some((each) => each.secret === id))
    return `a secret was sent in place of the client_id${known.some(({ name }) => name === secret) ? ', and the client_id in place of the secret' : ''}`;
  if (client === undefined) {
    const nearest = findClosestMatch(
      id,
      [...new Set(known.map(({ name }) => name))].filter((name) => name !== id),
    );
    return `there is no client ${id}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
  }
  if (!isConfidential(client)) return `the client ${id} is public and has no secret, but one was sent`;
  if (client.secret === undefined)
    return `the client ${id} authenticates with a key, and sends a client_assertion`;
  if (secret === undefined) return `the client ${id} has a secret, but none was sent`;
  const same = known.find((each) => each.secret === secret);
  if (same?.name === id) return `a former secret of the client ${id} was sent, which was replaced`;
  if (same !== undefined) return `the secret of another client, ${same.name}, was sent`;
  if (known.some(({ name, secret: own }) => name === id && own === secret.trim()))
    return `the secret of the client ${id} was sent with white space around it`;
  if (known.some(({ name, secret: own }) => name === id && encodeURIComponent(own) === secret))
    return `the secret of the client ${id} was percent-encoded twice`;
  const sent = describeSentKey(secret, id, known);
  return `the secret of the client ${id} is wrong${sent === undefined ? '' : `: ${sent.replace('the key', 'the secret')}`}`;
}
