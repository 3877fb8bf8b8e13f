// Signs responses (RFC 9421 §2.4, §5.2).

import { type MessageKey, signBase } from '../../algorithms.ts';
import { serializeDictionary } from '../../http/structured-fields/serialize.ts';
import { bytesItem, type InnerList, type Member } from '../../http/structured-fields/value.ts';
import type { RequestedSignature } from './accept-signature.ts';
import { createBase, formatBase, isBaseFault } from './base.ts';
import { readName } from './identifiers.ts';
import type { ResponseMessage } from './message.ts';
import { writeSignatureParameters } from './signature-fields.ts';

/** The fields of the signatures. */
interface SignatureFields {
  readonly 'Signature-Input': string;
  readonly Signature: string;
}

/** The parameters of the signatures of a response. */
interface ResponseSigning {
  readonly key: MessageKey;
  /** The time of the signature (s). */
  readonly created: number;
  /** The time after which the signature is not valid, if the client asks for one (s). */
  readonly expires: number;
}

/** The maximum number of signatures of a response. */
const maxSignatures = 4;

/**
 * Signs a response once for each requested signature. Omits those that name another key or algorithm, do not cover `@status`, or
 * cover components that the response does not have. Returns undefined if none is left.
 */
export function signResponse(
  response: ResponseMessage,
  requested: readonly RequestedSignature[],
  signing: ResponseSigning,
): SignatureFields | undefined {
  const inputs = new Map<string, Member>();
  const signatures = new Map<string, Member>();
  for (const each of requested.slice(0, maxSignatures)) {
    const covered = selectCovered(each, signing);
    const base = covered && createBase(covered, response);
    if (covered === undefined || base === undefined || isBaseFault(base)) continue;
    inputs.set(each.label, covered);
    signatures.set(each.label, bytesItem(Buffer.from(signBase(signing.key, formatBase(base)), 'base64')));
  }
  if (inputs.size === 0) return undefined;
  return { 'Signature-Input': serializeDictionary(inputs), Signature: serializeDictionary(signatures) };
}

/**
 * Returns what a requested signature covers. A signature without the status could also be one of a request, so it is not made.
 * `created` is always included, so that a client can judge the age of the signature.
 */
function selectCovered(
  requested: RequestedSignature,
  { key, created, expires: end }: ResponseSigning,
): InnerList | undefined {
  const { keyid = key.id, alg, nonce, tag, components: items } = requested;
  const isForResponse = items.some((component) => readName(component) === '@status');
  if (keyid !== key.id || (alg ?? key.algorithm) !== key.algorithm || !isForResponse) return undefined;
  const expires = requested.expires ? end : undefined;
  return { items, parameters: writeSignatureParameters({ created, expires, nonce, alg, keyid, tag }) };
}
