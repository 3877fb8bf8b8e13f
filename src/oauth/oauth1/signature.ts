// OAuth 1.0a (RFC 5849) as a signature scheme. Its holder is a consumer with a token, found in the store of grants.

import { createHash, createPublicKey } from 'node:crypto';
import { deriveOnce, type Key, type KeyHolder } from '../../accounts/keyring.ts';
import { isRsaMethod, rsaMethods, secretMethods } from '../../accounts/oauth1-methods.ts';
import { isConfidential } from '../../http/message.ts';
import type { Problem } from '../../http/problem.ts';
import { octetsOf } from '../../http/syntax/octets.ts';
import { encodeOctets } from '../../http/syntax/percent.ts';
import { splitTarget } from '../../http/target.ts';
import { onceEach } from '../../once.ts';
import type { Principal } from '../../principal.ts';
import { wholeSecond } from '../../schemes/freshness.ts';
import { createKey } from '../../schemes/hmac/credentials.ts';
import { messageBytes, type Part, type Piece } from '../../schemes/message.ts';
import {
  assemble,
  baseStringParts,
  computeSignature,
  createKeyCheck,
  rsaKinds,
  withPlainBodyHash,
} from '../../schemes/oauth1/base-string.ts';
import type { DigestFault, Fault, Refusal, SchemeVerification } from '../../schemes/scheme.ts';
import {
  decodeSignature,
  digestForm,
  isSameSignature,
  signatureFault,
} from '../../schemes/signature-form.ts';
import { createVerify, type Verify } from '../../schemes/verify.ts';
import type { Consumer } from '../clients.ts';
import type { OAuthContext } from '../context.ts';
import { type Found, isIssuedTo } from '../grants.ts';
import { findTokenFault, type Reason, type TokenFault, tokenReason } from '../reasons.ts';
import { intersectScopes } from '../scopes.ts';
import type { SignedFor } from './checks.ts';
import { addAdvice, oauth1Error, rejectedParameters } from './error.ts';
import { keyMistakes, messageMistakes, partMistakes } from './mistakes.ts';
import {
  chooseTokenKind,
  createReader,
  methodRejected,
  type OAuth1Presented,
  type Reader,
  tlsRequired,
} from './presented.ts';
import { createTokenSecrets } from './secrets.ts';

/** A consumer, and the token that the request names. */
interface OAuth1Holder extends KeyHolder {
  readonly consumer: Consumer;
  /** Undefined without a token, and if there is none of this value and kind. */
  readonly found: Found | undefined;
}

/** Creates the signature scheme of the requests for one purpose. */
function createOAuth1Signature(
  signedFor: SignedFor,
  reader: Reader,
  context: OAuthContext,
): SchemeVerification<OAuth1Presented, OAuth1Holder> {
  const { consumers, grants, origins, lifetimes, explain, bodyLimit } = context;
  const kind = chooseTokenKind(signedFor);
  const otherKind = kind === 'access' ? 'request' : 'access';
  const deriveSecret = createTokenSecrets(context.masterKey);
  const isSigned = createSignatureCheck();
  const buildParts = ({ request, method, parameters }: OAuth1Presented): Part[] =>
    method === 'PLAINTEXT'
      ? []
      : baseStringParts({
          method: request.method,
          origin: origins.asAddressed(request),
          path: splitTarget(request.target).path,
          parameters: parameters.signed,
          form: parameters.form,
        });
  const buildBaseString = (presented: OAuth1Presented): string => assemble(buildParts(presented)).join('');
  return {
    rules: {
      owner: 'consumer',
      check: 'signature',
      wrong,
      time: { subject: 'The timestamp', window: lifetimes.oauth1Window, resolution: 1000 },
      digestCheck: 'content',
    },
    complete: (presented, content) => reader.addContent(presented, content),
    async find({ user, token }) {
      const consumer = consumers.find(user);
      const found = token === '' ? undefined : await grants.find(token, 'oauth1', kind);
      if (consumer === undefined) return undefined;
      const principal = token === '' ? toClient(consumer) : toPrincipal(consumer, found);
      const hint = token === '' ? undefined : findForeignHint(found, consumer);
      return { principal, keys: findKeys(consumer), hint, consumer, found };
    },
    messages(presented) {
      const parts = buildParts(presented);
      const plain = isRsaMethod(presented.method) ? withPlainBodyHash(parts) : undefined;
      return plain === undefined ? [parts] : [parts, plain];
    },
    join: assemble,
    verify: isSigned,
    signatureFault: (presented) => formFault(presented, () => buildBaseString(presented), explain),
    accept(presented, _key, holder) {
      // Only a consumer with a valid signature learns that it may not use plain HTTP, or this method.
      if (!isConfidential(presented.request.connection) && !holder.consumer.plainHttp) {
        const problem = tlsRequired();
        return { detail: problem.detail, check: 'tls', problem };
      }
      if (!holder.consumer.methods.includes(presented.method)) {
        const problem = methodRejected();
        return { detail: problem.detail, check: 'method', problem };
      }
      return presented.token === '' ? undefined : tokenFault(holder, context);
    },
    digestFault(presented) {
      const sent = presented.parameters.protocol.get('oauth_body_hash');
      return sent === undefined ? undefined : bodyHashFault(presented, sent, bodyLimit);
    },
    mistakes: {
      mac: ({ method, tokenSecret }) =>
        isRsaMethod(method)
          ? undefined
          : {
              hash: secretMethods[method],
              encoding: 'utf8',
              key: (secret) => keyBytes(secret, tokenSecret),
            },
      part: partMistakes,
      message: messageMistakes,
      key: (secret, { token, tokenSecret }) =>
        keyMistakes(secret, token, tokenSecret, token === '' ? '' : deriveSecret(otherKind, token)),
      withSignature: (presented, signature) => ({ ...presented, signature, signatures: [signature] }),
      // The base string contains the token, so it is shown only where it matters.
      members: (presented, _content, reason) =>
        reason !== 'signature' || presented.method === 'PLAINTEXT'
          ? {}
          : { message: buildBaseString(presented) },
    },
    problem: (refusal) => toProblem(refusal, context),
  };
}

const wrong = 'The consumer, its secret, the token secret or the signed base string is wrong.';

/** Returns the principal of a request without a token: the consumer on its own behalf. */
function toClient({ key, scopes, users }: Consumer): Principal {
  return { name: key, scheme: 'oauth', lent: { client: key, scopes, users } };
}

function toPrincipal({ key, scopes }: Consumer, found: Found | undefined): Principal {
  const { user = key, scopes: granted = [] } = found?.token ?? {};
  // A scope that was removed from the consumer's registration is removed from its tokens too.
  const lent = { client: key, scopes: intersectScopes(granted, scopes), users: undefined };
  return { name: user, scheme: 'oauth', lent };
}

/** Returns the keys of a consumer. They are prepared once, so that a registered one costs no more time. */
const findKeys = onceEach(({ secret, rsaPublicKey }: Consumer): readonly Key[] => {
  const keys: Key[] = [];
  if (secret !== undefined) keys.push({ kind: 'secret', secret: createKey(secret) });
  if (rsaPublicKey !== undefined) {
    const publicKey = createPublicKey(rsaPublicKey);
    const rsaLength = Math.ceil((publicKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
    for (const kind of Object.values(rsaKinds)) keys.push({ kind, publicKey, rsaLength });
  }
  return keys;
});

/** Returns the key that the bytes of a secret and the secret of a token make (RFC 5849 §3.4.2). */
function keyBytes(secret: Buffer, tokenSecret: string): Buffer {
  return Buffer.from(`${encodeOctets(octetsOf(secret))}&${encodeOctets(tokenSecret)}`);
}

/** Creates the function that returns whether a key made the signature. What depends on the key alone is computed once. */
function createSignatureCheck(): SchemeVerification<OAuth1Presented>['verify'] {
  const prepared = deriveOnce((secret) => ({ text: `${encodeOctets(octetsOf(secret))}&` }));
  const checkWith = onceEach(createKeyCheck);
  return (key, message, { method, signature, tokenSecret }) => {
    const base = octetsIn(message);
    if (key.kind === 'secret') {
      if (isRsaMethod(method)) return false;
      // A token secret is base64url, which percent-encoding does not change.
      return isSameSignature(
        computeSignature(method, base, prepared(key.secret).text + tokenSecret),
        signature,
      );
    }
    if (!isRsaMethod(method)) return false;
    return checkWith(key.publicKey)(method, base, signature);
  };
}

function octetsIn(message: readonly Piece[]): string {
  const [only = ''] = message;
  return typeof only === 'string' && message.length <= 1 ? only : octetsOf(messageBytes(message));
}

/** Returns the fault of a signature that is not in base64, or has the length of another method. It shows without a key. */
function formFault(
  { method, signature, countedAs }: OAuth1Presented,
  baseString: () => string,
  explain: boolean,
): Fault | undefined {
  const hash = isRsaMethod(method) ? undefined : secretMethods[method];
  if (hash === undefined) return undefined;
  const form = digestForm(hash, 'base64');
  if (decodeSignature(signature, form) !== undefined) return undefined;
  const hint = signature.includes(' ')
    ? 'a "+" in the signature was sent as it is and arrived as a space; percent-encode it'
    : signatureFault(signature, form);
  const message = baseString();
  return {
    detail: wrong,
    hint,
    members: { message },
    check: 'signature',
    claimed: countedAs,
    problem: oauth1Error('signature_invalid', wrong, explain ? { oauth_problem_advice: message, hint } : {}),
  };
}

/** Returns the Problem of a refusal in the form of OAuth. */
function toProblem(
  { reason, detail, members, now }: Refusal<OAuth1Presented>,
  { lifetimes, notBefore = Number.NEGATIVE_INFINITY }: OAuthContext,
): Problem {
  const { message, hint } = members;
  const advice = typeof hint === 'string' ? hint : undefined;
  switch (reason) {
    case 'time':
    case 'expired':
    case 'before-start': {
      const second = wholeSecond(now);
      const first = Math.max(second - lifetimes.oauth1Window, wholeSecond(notBefore));
      const accepted = `${Math.ceil(first / 1000)}-${Math.floor((second + lifetimes.oauth1Window) / 1000)}`;
      return addAdvice(
        oauth1Error('timestamp_refused', detail, { oauth_acceptable_timestamps: accepted }),
        advice,
      );
    }
    case 'content':
      return addAdvice(rejectedParameters(detail, ['oauth_body_hash']), advice);
    case 'replayed':
      return addAdvice(oauth1Error('nonce_used', 'A request with this nonce was already accepted.'), advice);
    default:
      // The advice is the base string, which contains all parts.
      return oauth1Error('signature_invalid', detail, {
        ...(message === undefined ? {} : { oauth_problem_advice: message }),
        ...(hint === undefined ? {} : { hint }),
      });
  }
}

/** Returns the fault (401) of a token that is not valid. Only a consumer that signed with the token secret learns its state. */
async function tokenFault(holder: OAuth1Holder, context: OAuthContext): Promise<Fault | undefined> {
  const problem = await tokenProblem(holder, context);
  if (problem === undefined) return undefined;
  const { check, hint, isPrivate } = await reasonOfToken(holder, context);
  const shown = context.explain && isPrivate !== true ? addAdvice(problem, hint) : problem;
  return { detail: problem.detail, check, hint, problem: shown };
}

const foreignToken = ['token_rejected', 'The token does not belong to this consumer.'] as const;

const tokenProblems: Readonly<Record<TokenFault, Parameters<typeof oauth1Error>>> = {
  used: ['token_used', 'The token has already been used.'],
  revoked: ['token_revoked', 'The token was revoked.'],
  expired: ['token_expired', 'The token has expired.'],
  ended: ['token_expired', 'The token has expired.'],
  orphaned: ['token_expired', 'The token has expired.'],
  unregistered: [...foreignToken],
  renewed: [...foreignToken],
  'user-removed': ['token_rejected', 'The user of the token was removed or disabled.'],
};

async function tokenProblem(
  { consumer, found }: OAuth1Holder,
  context: OAuthContext,
): Promise<Problem | undefined> {
  if (found === undefined || found.token.client !== consumer.key || !isIssuedTo(found, consumer))
    return oauth1Error(...foreignToken);
  const fault = await findTokenFault(found, consumer, context);
  if (fault !== undefined) return oauth1Error(...tokenProblems[fault]);
  if (found.token.user === undefined && found.token.kind === 'access')
    throw new Error('an access token of OAuth 1.0a has no user');
  return undefined;
}

async function reasonOfToken({ consumer, found }: OAuth1Holder, context: OAuthContext): Promise<Reason> {
  const hint = findForeignHint(found, consumer);
  if (hint !== undefined || found === undefined) return { check: 'token', hint: hint ?? '' };
  return (await tokenReason(found, consumer, context)) ?? { check: 'token', hint: 'the token is not valid' };
}

/** Returns why a token is not one of this consumer. */
function findForeignHint(found: Found | undefined, { key }: Consumer): string | undefined {
  if (found === undefined) return 'the token is unknown, of another kind, or was deleted after it expired';
  return found.token.client === key ? undefined : `the token was issued to another consumer, not to ${key}`;
}

/** Returns the fault of an oauth_body_hash that does not match the content (OAuth Request Body Hash 1.0 §4). */
async function bodyHashFault(
  { request: { body }, method, signsForm }: OAuth1Presented,
  sent: string,
  limit: number,
): Promise<DigestFault | undefined> {
  // §4.1.1: a form is signed by its parameters, without a hash.
  if (signsForm) return { detail: 'oauth_body_hash is not allowed with a form.', explain: () => ({}) };
  const content = body.present ? await body.hold(limit) : new Uint8Array();
  // §3.2: SHA-1 with the methods of RFC 5849, and the hash function of any other. Many clients send SHA-1 with every method.
  const accepted = new Set(['sha1', isRsaMethod(method) ? rsaMethods[method] : secretMethods[method]]);
  return [...accepted].some(
    (hash) => hash !== undefined && createHash(hash).update(content).digest('base64') === sent,
  )
    ? undefined
    : {
        detail: 'oauth_body_hash does not match the content.',
        explain: async () => {
          const { explainDigest } = await import('../../schemes/explain/content.ts');
          const form = { hash: 'sha1', format: (digest: Buffer) => digest.toString('base64') };
          return (isLimited) => ({ hint: explainDigest(form, content, sent, isLimited) });
        },
      };
}

/** Reads and verifies the signed requests for one purpose. */
export interface SignedRequests {
  readonly reader: Reader;
  readonly verifier: Verify<OAuth1Presented>;
}

/** Creates the reading and the verification for a purpose. */
export function createSignedRequests(signedFor: SignedFor, context: OAuthContext): SignedRequests {
  const reader = createReader(signedFor, context);
  return { reader, verifier: createVerify(createOAuth1Signature(signedFor, reader, context), context) };
}
