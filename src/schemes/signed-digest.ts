// A Content-Digest (RFC 9530) that a signature covers.
import { createHash, timingSafeEqual } from 'node:crypto';
import { type ContentDigest, parseContentDigest } from '../http/headers/content-digest.ts';
import type { IncomingRequest } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { DigestFault, Fault } from './scheme.ts';

/** Returns the fault of a digest field that is malformed. */
export function malformedDigest(field: string, form: string): Fault {
  const detail = `${field} must be ${form}.`;
  return { detail, problem: new Problem('malformed-field', detail, { members: { field } }) };
}

/** Reads the digests of a covered Content-Digest. Returns a fault if the content cannot be verified by any. */
export function readContentDigest(value: string): readonly ContentDigest[] | Fault {
  const digests = parseContentDigest(value) ?? [];
  return digests.length === 0
    ? malformedDigest('Content-Digest', 'sha-256 or sha-512 as in RFC 9530')
    : digests;
}

/** Reads the content of a request, and compares it with each digest. */
export function compareContent(
  { body }: IncomingRequest,
  digests: readonly ContentDigest[],
  bodyLimit: number,
): MaybePromise<DigestFault | undefined> {
  const compare = (content: Uint8Array): DigestFault | undefined => {
    for (const { algorithm, digest } of digests) {
      const hash = algorithm.replace('-', '');
      // The parser checks the length of the digest.
      if (timingSafeEqual(createHash(hash).update(content).digest(), digest)) continue;
      return {
        detail: 'The content does not have the digest in Content-Digest.',
        explain: async () => {
          const { explainDigest } = await import('./explain/content.ts');
          const form = { hash, format: (bytes: Buffer) => bytes.toString('base64') };
          const sent = Buffer.from(digest).toString('base64');
          return (isLimited) => ({ hint: explainDigest(form, content, sent, isLimited) });
        },
      };
    }
    return undefined;
  };
  return body.present ? body.hold(bodyLimit).then(compare) : compare(new Uint8Array(0));
}
