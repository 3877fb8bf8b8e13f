// A Content-Digest (RFC 9530) that a signature covers.
import { createHash, timingSafeEqual } from 'node:crypto';
import { parseContentDigest } from '../http/headers/content-digest.ts';
import type { Request } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { DigestFault, Fault } from './signature-scheme.ts';

/** Returns the fault of a digest field that is malformed. */
export function malformedDigest(field: string, form: string): Fault {
  const detail = `${field} must be ${form}.`;
  return { detail, problem: new Problem('malformed-field', detail, { members: { field } }) };
}

/** Returns the fault of a Content-Digest that has no digest by which the content can be verified. */
export function contentDigestFault(value: string): Fault | undefined {
  return parseContentDigest(value)?.[0] === undefined
    ? malformedDigest('Content-Digest', 'sha-256 or sha-512 as in RFC 9530')
    : undefined;
}

/** Reads the content of a request, and compares it with each digest in Content-Digest. */
export function compareContentDigest(
  request: Request,
  bodyLimit: number,
): MaybePromise<DigestFault | undefined> {
  const digests = parseContentDigest(request.fields.get('content-digest') ?? '') ?? [];
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
          return { hint: explainDigest(form, content, Buffer.from(digest).toString('base64')) };
        },
      };
    }
    return undefined;
  };
  return request.body.present ? request.body.hold(bodyLimit).then(compare) : compare(new Uint8Array(0));
}
