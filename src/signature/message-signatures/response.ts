// Signs responses (RFC 9421 §2.4, §5.2).
import { serializeDictionary } from '../../http/structured-fields/serialize.ts';
import {
  type BareItem,
  bytesItem,
  type InnerList,
  type Item,
  type Member,
  type Parameters,
} from '../../http/structured-fields/value.ts';
import { type MessageKey, signBase } from '../algorithms.ts';
import type { RequestedSignature } from './accept-signature.ts';
import { createBase, formatBase, isBaseFault } from './base.ts';
import { readName } from './identifiers.ts';
import type { ResponseMessage } from './message.ts';
import type { SignatureFields } from './sign.ts';

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
    const signature = covered === undefined ? undefined : computeSignature(response, covered, signing.key);
    if (covered === undefined || signature === undefined) continue;
    inputs.set(each.label, covered);
    signatures.set(each.label, signature);
  }
  if (inputs.size === 0) return undefined;
  return { 'Signature-Input': serializeDictionary(inputs), Signature: serializeDictionary(signatures) };
}

/** A signature without the status could also be one of a request, so it is not made. */
function selectCovered(requested: RequestedSignature, signing: ResponseSigning): InnerList | undefined {
  const { key } = signing;
  const { keyid = key.id, alg = key.algorithm } = requested;
  const isForResponse = requested.components.some((component) => readName(component) === '@status');
  if (keyid !== key.id || alg !== key.algorithm || !isForResponse) return undefined;
  return { items: requested.components, parameters: buildParameters(requested, signing) };
}

/** `created` is always included, so that a client can judge the age of the signature. */
function buildParameters(
  requested: RequestedSignature,
  { key, created, expires }: ResponseSigning,
): Parameters {
  const { nonce, alg, tag } = requested;
  const parameters = new Map<string, BareItem>([['created', { type: 'integer', value: created }]]);
  if (requested.expires) parameters.set('expires', { type: 'integer', value: expires });
  if (nonce !== undefined) parameters.set('nonce', { type: 'string', value: nonce });
  if (alg !== undefined) parameters.set('alg', { type: 'string', value: alg });
  parameters.set('keyid', { type: 'string', value: key.id });
  if (tag !== undefined) parameters.set('tag', { type: 'string', value: tag });
  return parameters;
}

function computeSignature(response: ResponseMessage, covered: InnerList, key: MessageKey): Item | undefined {
  const base = createBase(covered, response);
  if (isBaseFault(base)) return undefined;
  return bytesItem(Buffer.from(signBase(key, formatBase(base)), 'base64'));
}
