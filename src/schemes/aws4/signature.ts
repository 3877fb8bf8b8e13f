// AWS Signature Version 4 as a signature scheme: a canonical request that is hashed into a string to sign, with a key that is derived
// for the scope of the request.

import { timingSafeEqual } from 'node:crypto';
import { createKeyring, deriveOnce } from '../../accounts/keyring.ts';
import { hmacSha256 } from '../../hmac-sha256.ts';
import { splitTarget } from '../../http/target.ts';
import { octetsOfPiece, type Part } from '../message.ts';
import type { DigestFault, Fault, Refusal, RefusalReason, RequestVerification } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import {
  emptyHash,
  formatCanonicalRequest,
  formatStringToSign,
  hashContent,
  isNormalized,
  messageParts,
  unsignedPayload,
} from './canonical-request.ts';
import type { WriteProblem } from './errors/problem-writer.ts';
import type { AwsRefusal, Reason } from './errors/refusal.ts';
import { contentMistake, keyMistakes, messageMistakes, partMistakes } from './mistakes.ts';
import type { Aws4Options } from './options.ts';
import { type Aws4Presented, present } from './presented.ts';
import { deriveKey, prepareSecret, scopeText } from './signing-key.ts';

/** Creates the signature scheme. */
export function createAws4Signature(
  name: string,
  options: Aws4Options,
  { accounts, clock, explain, bodyLimit }: SchemeContext,
  writeProblem: WriteProblem,
): RequestVerification<Aws4Presented> {
  const prepared = deriveOnce(prepareSecret);
  return {
    rules: {
      check: 'signature',
      wrong: 'The access key, the secret or the signed request is wrong.',
      time: { subject: 'The date', window: options.window, resolution: 1000, expiryReplacesWindow: true },
      refusesReplays: options.replay === 'refuse',
      digestCheck: 'content',
    },
    parse(request, rest) {
      const now = clock.now();
      const presented = present(request, rest, options, now);
      return 'reason' in presented ? toFault(presented, now, explain, writeProblem) : presented;
    },
    find: createKeyring(accounts, name, {
      ofUser: () => false,
      byId: ({ algorithm }) => algorithm === 'aws4',
    }),
    messages: (presented, content) => [buildParts(presented, content)],
    join: (parts) => [formatStringToSign(parts)],
    verify(key, message, { credentials: { scope, signature } }) {
      if (key.kind !== 'secret') return false;
      const digest = hmacSha256(deriveKey(prepared(key.secret), scope), message.map(octetsOfPiece).join(''));
      return timingSafeEqual(digest, Buffer.from(signature, 'hex'));
    },
    accept(presented) {
      const refusal = pathRefusal(presented, options);
      return refusal === undefined ? undefined : toFault(refusal, clock.now(), explain, writeProblem);
    },
    digestFault: (presented) => digestFault(presented, bodyLimit),
    mistakes: {
      mac: ({ credentials: { scope } }) => ({
        hash: 'sha256',
        encoding: 'utf8',
        key: (secret) => deriveKey(prepareSecret(secret), scope),
      }),
      part: (part, presented, content) => partMistakes(part, presented, content, options),
      message: messageMistakes,
      key: (secret, { credentials }) => keyMistakes(secret, credentials.scope),
      members: (presented, content) => {
        const parts = buildParts(presented, content);
        return { canonicalRequest: formatCanonicalRequest(parts), stringToSign: formatStringToSign(parts) };
      },
    },
    problem: (refusal) => writeProblem(awsRefusal(refusal), refusal.now),
  };
}

/** Returns the parts of the canonical request and of the string to sign. */
function buildParts(presented: Aws4Presented, content: Uint8Array): Part[] {
  const { request, path, query, headers, payloadHash = hashContent(content), stamp, credentials } = presented;
  const { method } = request;
  const { signedHeaders } = credentials;
  const scope = scopeText(credentials.scope);
  return messageParts({ method, path, query, headers, signedHeaders, payloadHash, stamp, scope });
}

/** Returns why a valid signature does not cover the path as sent: another resource has the same canonical path. */
function pathRefusal(
  { request, presigned, credentials: { accessKeyId, signature } }: Aws4Presented,
  { normalizePath }: Aws4Options,
): AwsRefusal | undefined {
  if (!normalizePath || isNormalized(splitTarget(request.target).path)) return undefined;
  return {
    reason: 'malformed',
    detail:
      'The path contains dot segments or repeated slashes, which are removed before it is signed, so the signature does not cover it as sent.',
    hint: 'send the path without dot segments and repeated slashes',
    facts: { presigned, accessKeyId, signature },
  };
}

/** Compares the content with the signed hash, unless that was computed from the content. Content that is not signed is not read. */
function digestFault(
  { request, payloadHash, hasContent }: Aws4Presented,
  bodyLimit: number,
): DigestFault | undefined | Promise<DigestFault | undefined> {
  if (payloadHash === undefined || payloadHash === unsignedPayload) return undefined;
  const compare = (content: Uint8Array): DigestFault | undefined => {
    const computed = hashContent(content);
    if (computed === payloadHash) return undefined;
    const detail = 'The content does not have the SHA-256 in X-Amz-Content-Sha256.';
    const findCause = (isLimited: boolean) => ({ hint: contentMistake(content, payloadHash, isLimited) });
    return { detail, explain: () => findCause, computed };
  };
  if (hasContent) return request.body.hold(bodyLimit).then(compare);
  return payloadHash === emptyHash ? undefined : compare(new Uint8Array(0));
}

/** Returns the fault of a request that its header section alone shows. */
function toFault(refusal: AwsRefusal, now: number, explain: boolean, writeProblem: WriteProblem): Fault {
  const isScope = refusal.reason === 'region' || refusal.reason === 'service';
  const { hint } = refusal;
  const members = { check: isScope ? 'scope' : 'grammar', ...(hint === undefined ? {} : { hint }) };
  const problem = writeProblem({ ...refusal, members: explain ? members : {} }, now);
  const claimed = refusal.facts.accessKeyId;
  return {
    detail: refusal.detail,
    hint,
    check: isScope ? 'scope' : 'parse',
    problem,
    claimed,
  };
}

const reasons: Readonly<Record<Exclude<RefusalReason, 'time'>, Reason>> = {
  'unknown-user': 'unknown-key',
  'expired-key': 'expired-key',
  signature: 'signature',
  content: 'payload-mismatch',
  expired: 'presigned-expired',
  'before-start': 'date-behind',
  replayed: 'replayed',
};

/** Returns a refusal with what AWS shows of it. */
function awsRefusal({
  reason,
  presented,
  content,
  detail,
  members,
  now,
  computed,
}: Refusal<Aws4Presented>): AwsRefusal {
  const { credentials, presigned, time } = presented;
  const parts = buildParts(presented, content);
  return {
    reason: reason === 'time' ? (time > now ? 'date-ahead' : 'date-behind') : reasons[reason],
    detail,
    members,
    facts: {
      presigned,
      accessKeyId: credentials.accessKeyId,
      signature: credentials.signature,
      canonicalRequest: formatCanonicalRequest(parts),
      stringToSign: formatStringToSign(parts),
      time,
      expires: credentials.presigned?.expires,
      sentHash: presented.payloadHash,
      computedHash: computed,
    },
  };
}
