// The signatures of a request that meet the requirements, with what they sign. The requirements of the application (RFC 9421 §3.2.1)
// are judged before any key is looked up, so a refusal depends on nothing but the request.

import { isRsaLength } from '../../accounts/key-weakness.ts';
import type { KeyKind } from '../../accounts/keyring.ts';
import { algorithmsOfLength, isRsa, signatureAlgorithms } from '../../algorithms.ts';
import type { ContentDigest } from '../../http/headers/content-digest.ts';
import { hasContent, type IncomingRequest } from '../../http/message.ts';
import { describeTimeForm } from '../freshness.ts';
import { type Fault, type Presented, sentence } from '../scheme.ts';
import { readContentDigest } from '../signed-digest.ts';
import {
  type BaseFault,
  type BaseLine,
  baseLines,
  type CoveredComponents,
  coverComponents,
  isBaseFault,
} from './base.ts';
import { coversContentDigest, identifierKey, parseIdentifier } from './identifiers.ts';
import type { MessageSignaturesOptions } from './options.ts';
import { type MessageSignature, parseSignatures, type SignatureParameters } from './signature-fields.ts';

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
  const { method, target, headers: fields, connection } = request;
  const message = { method, target, fields, secure: connection.secure };
  const lines = baseLines(components, covered.parameters, message, structuredFields);
  if (isBaseFault(lines)) return noBase(lines);
  const fault = check(parameters, components, request);
  if (fault !== undefined) return fault;
  const digests = covered.items.some(coversContentDigest)
    ? readContentDigest(fields.get('content-digest') ?? '')
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

/** Returns why a signature does not meet the requirements; undefined if it does. */
type CheckRequirements = (
  parameters: SignatureParameters,
  components: CoveredComponents,
  request: IncomingRequest,
) => Fault | undefined;

/** The maximum length of a nonce, in characters. */
const maxNonce = 256;

/** Creates the check of the requirements. */
export function createRequirements(options: MessageSignaturesOptions): CheckRequirements {
  const required = options.components.map((component) => identifierKey(parseIdentifier(component)));
  return (parameters, components, request) =>
    parameterFault(parameters, options) ??
    coverageFault(required, components, request) ??
    contentFault(components, request);
}

function parameterFault(
  { keyid, created, nonce, tag }: SignatureParameters,
  options: MessageSignaturesOptions,
): Fault | undefined {
  if (keyid === undefined) return insufficient('The signature requires the parameter keyid.');
  if (created === undefined) return insufficient('The signature requires the parameter created.');
  if (options.tag !== undefined && tag !== options.tag)
    return insufficient(`The signature requires the parameter tag with the value "${options.tag}".`);
  if (options.nonce === 'required' && nonce === undefined)
    return insufficient('The signature requires the parameter nonce.');
  return nonce !== undefined && (nonce.length < 1 || nonce.length > maxNonce)
    ? { detail: `The nonce must have 1 to ${maxNonce} characters.` }
    : undefined;
}

function coverageFault(
  required: readonly string[],
  { keys }: CoveredComponents,
  { target }: IncomingRequest,
): Fault | undefined {
  const isCovered = (key: string): boolean =>
    keys.has(key) || Array.from(keys).some((other) => listContained(other, target).includes(key));
  const missing = required.filter((key) => !isCovered(key));
  if (missing.length === 0) return undefined;
  const names = missing.join(', ');
  return {
    ...insufficient(`The signature does not cover ${names}.`),
    hint: `add ${names} to the covered components, in Signature-Input and in the message`,
    members: { missing },
  };
}

const ofTarget: readonly string[] = ['"@path"', '"@query"'];
const ofUri: readonly string[] = ['"@scheme"', '"@authority"', ...ofTarget];
const none: readonly string[] = [];

/** Returns the components whose values a component contains (RFC 9421 §2.2.2, §2.2.5). Only an absolute form has an authority. */
function listContained(key: string, target: string): readonly string[] {
  if (key === '"@target-uri"') return ofUri;
  if (key !== '"@request-target"') return none;
  return /^https?:/i.test(target) ? ofUri : ofTarget;
}

function contentFault({ items }: CoveredComponents, request: IncomingRequest): Fault | undefined {
  if (!hasContent(request) || items.some(coversContentDigest)) return undefined;
  return {
    type: 'digest-required',
    check: 'requirements',
    detail: 'The signature of a request with content must cover content-digest.',
    hint: 'send Content-Digest and cover it',
    members: { missing: ['"content-digest"'] },
  };
}

function insufficient(detail: string): Fault {
  return { type: 'signature-insufficient', check: 'requirements', detail };
}

/** Returns the fault of a signature without a base. A component that this request lacks may have been removed on the way. */
function noBase({ kind, fault }: BaseFault): Fault {
  if (kind === 'malformed') return { detail: `${sentence(fault)}.` };
  return {
    type: 'credentials-refused',
    check: 'signature',
    detail: `The signature cannot be verified: ${fault}.`,
    hint: fault,
  };
}

/** Forms of Signature-Input (RFC 9421 §4.1) that are no dictionary of inner lists, and what is wrong. */
const inputForms: readonly (readonly [form: RegExp, hint: string])[] = [
  [/\([ \t]*@?[a-z]/i, 'the names of the components are without quotes; ("@method" "@path") is expected'],
  [/\([ \t]*'/, 'the names are in single quotes; double quotes are expected'],
  [/"[ \t]*[,;][ \t]*"/, 'the components are separated by a comma or a semicolon; a space is expected'],
  [/;\s*keyid=[^"]/, 'keyid is without quotes; keyid="…" is expected'],
  [/;\s*alg=[^"]/, 'alg is without quotes; alg="…" is expected'],
  [/;\s*nonce=[^"]/, 'nonce is without quotes; nonce="…" is expected'],
  [/;\s*tag=[^"]/, 'tag is without quotes; tag="…" is expected'],
  [/\),\s*[a-z]+=/, 'the parameters are separated by a comma; ";" is expected'],
  [/^\s*\(/, 'the label is missing; sig1=("@method" …);created=… is expected'],
  [/^[^(]*$/, 'the components are not in parentheses; sig1=("@method" …);created=… is expected'],
];

/** Forms of Signature (RFC 9421 §4.2) that are no dictionary of byte sequences, and what is wrong. */
const signatureForms: readonly (readonly [form: RegExp, hint: string])[] = [
  [/^[a-z*][a-z0-9_.*-]*="/, 'the signature is in quotes; it is expected between colons: sig1=:BASE64:'],
  [/^[a-z*][a-z0-9_.*-]*=[^:=]/, 'the colons around the base64 are missing; sig1=:BASE64: is expected'],
  [/^:?[A-Za-z0-9+/_-]{20,}={0,2}:?$/, 'the signature was sent without its label; sig1=:BASE64: is expected'],
];

/** Returns what is wrong with the fields of a signature that cannot be parsed; undefined if nothing usual is. */
function describeFieldForms(input: string | undefined, signature: string | undefined): string | undefined {
  const created = findCreatedHint(input ?? '');
  if (created !== undefined) return created;
  if (signature !== undefined && /\bkeyId="/.test(signature))
    return 'a signature of draft-cavage-http-signatures was sent; RFC 9421 has Signature-Input, and sig1=:BASE64: in Signature';
  const find = (forms: typeof inputForms, value: string | undefined): string | undefined =>
    value === undefined ? undefined : forms.find(([form]) => form.test(value))?.[1];
  if (input === undefined) return 'it names what is signed: sig1=("@method" …);created=…;keyid="…"';
  return find(inputForms, input) ?? find(signatureForms, signature) ?? describeLabels(input, signature);
}

/** Returns the label that Signature has if Signature-Input has another one. */
function describeLabels(input: string, signature: string | undefined): string | undefined {
  const [own, other] = [input, signature ?? ''].map((value) => /^[a-z*][a-z0-9_.*-]*(?==)/.exec(value)?.[0]);
  return own === undefined || other === undefined || own === other
    ? undefined
    : `Signature-Input has the label ${own}, and Signature ${other}; both need the same`;
}

/** Returns the hint at a `created` that is not an integer. */
function findCreatedHint(input: string): string | undefined {
  const sent = /;\s*created=([^;]*)/.exec(input)?.[1]?.trim();
  if (sent === undefined || /^\d{1,15}$/.test(sent)) return undefined;
  const [, quoted] = /^"([^"]*)"/.exec(sent) ?? [];
  const form = describeTimeForm(quoted ?? sent);
  if (form !== undefined && form !== 'a number') return `created is ${form}`;
  return quoted === undefined ? undefined : 'created is a string; send the number without quotes';
}
