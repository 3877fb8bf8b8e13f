// The signatures of a request that meet the requirements, with what they sign.
import type { ContentDigest } from '../../http/headers/content-digest.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { algorithmsOfLength, isRsa, signatureAlgorithms } from '../../signature/algorithms.ts';
import {
  type BaseLine,
  baseLines,
  coverComponents,
  isBaseFault,
} from '../../signature/message-signatures/base.ts';
import { coversContentDigest } from '../../signature/message-signatures/identifiers.ts';
import type { RequestMessage } from '../../signature/message-signatures/message.ts';
import {
  type MessageSignature,
  parseSignatures,
} from '../../signature/message-signatures/signature-fields.ts';
import { isRsaLength } from '../key-weakness.ts';
import type { KeyKind } from '../keyring.ts';
import type { Fault, Presented } from '../scheme.ts';
import { readContentDigest } from '../signed-digest.ts';
import { describeFieldForms } from './field-forms.ts';
import type { MessageSignaturesOptions } from './options.ts';
import { type CheckRequirements, noBase } from './requirements.ts';

/** A signature that meets the requirements. */
export interface PresentedSignature extends Presented {
  readonly signature: MessageSignature;
  /** The lines of the signature base. The last one contains the parameters. */
  readonly lines: readonly BaseLine[];
  /** The digests in a covered Content-Digest; empty if none is covered. */
  readonly digests: readonly ContentDigest[];
  readonly time: number;
}

/** The maximum number of signatures of a request that meet the requirements. It bounds the work of a refusal. */
const maxCandidates = 4;

/** Reads the signatures that meet the requirements. Returns the fault of the first one if there is none. */
export function read(
  request: IncomingRequest,
  check: CheckRequirements,
  options: MessageSignaturesOptions,
): PresentedSignature | readonly PresentedSignature[] | Fault {
  const [input, signature] = [request.headers.get('signature-input'), request.headers.get('signature')];
  const signatures = parseSignatures(input, signature);
  if (typeof signatures === 'string')
    return {
      detail: `${signatures}.`,
      hint: describeFieldForms(input, signature),
    };
  const candidates: PresentedSignature[] = [];
  let first: Fault | undefined;
  for (const each of signatures) {
    const presented = present(request, each, check, options);
    if ('detail' in presented) first ??= presented;
    else candidates.push(presented);
  }
  const [only] = candidates;
  const claimed = signatures[0]?.parameters.keyid;
  const named = claimed === undefined ? {} : { claimed };
  if (only === undefined) return { detail: 'Signature-Input is empty.', ...first, ...named };
  if (candidates.length <= maxCandidates) return candidates.length === 1 ? only : candidates;
  // Otherwise one that is not verified could be sent again alone.
  return {
    detail: `More than ${maxCandidates} signatures meet the requirements; at most ${maxCandidates} are verified.`,
    ...named,
  };
}

function present(
  request: IncomingRequest,
  signature: MessageSignature,
  check: CheckRequirements,
  { nonce: nonceMode, structuredFields }: MessageSignaturesOptions,
): PresentedSignature | Fault {
  const { covered, parameters } = signature;
  const components = coverComponents(covered.items, 'request');
  if (isBaseFault(components)) return noBase(components);
  const lines = baseLines(components, covered.parameters, toMessage(request), structuredFields);
  if (isBaseFault(lines)) return noBase(lines);
  const fault = check(parameters, components, request);
  if (fault !== undefined) return fault;
  const digests = covered.items.some(coversContentDigest)
    ? readContentDigest(request.headers.get('content-digest') ?? '')
    : [];
  if ('detail' in digests) return digests;
  const { keyid = '', created = 0, expires, nonce } = parameters;
  return {
    request,
    user: keyid,
    signatures: [signature.signature],
    kinds: selectKinds(signature.signature),
    time: created * 1000,
    expires: expires === undefined ? undefined : expires * 1000,
    nonce: nonceMode === 'off' ? undefined : nonce,
    signature,
    lines,
    digests,
  };
}

/** The kinds of keys of signatures that have 64 or 96 bytes, any length of RSA, or another length. */
const ofFixedLength = [64, 96].map((length) => [length, [...algorithmsOfLength(length), 'secret']] as const);
const kindsOfLength: ReadonlyMap<number, readonly KeyKind[]> = new Map(ofFixedLength);
const ofRsa: readonly KeyKind[] = [...signatureAlgorithms.filter(isRsa), 'secret'];
const onlySecret: readonly KeyKind[] = ['secret'];

/**
 * Returns the kinds of keys by the length of a signature in base64 (RFC 9421 §3.3). Secrets are always among them, because clients
 * compute HMACs of other lengths by mistake.
 */
export function selectKinds(signature: string): readonly KeyKind[] {
  const length = Buffer.byteLength(signature, 'base64');
  return kindsOfLength.get(length) ?? (isRsaLength(length) ? ofRsa : onlySecret);
}

function toMessage({ method, target, headers: fields, connection }: IncomingRequest): RequestMessage {
  return { method, target, fields, secure: connection.secure };
}
