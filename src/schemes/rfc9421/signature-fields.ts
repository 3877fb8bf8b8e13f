// The fields Signature-Input and Signature (RFC 9421 §4).

import { parseDictionary, StructuredFieldError } from '../../http/structured-fields/parse.ts';
import {
  type BareItem,
  type Dictionary,
  type InnerList,
  isInnerList,
  type Member,
  type Parameters,
} from '../../http/structured-fields/value.ts';
import { describeBase64 } from '../signature-form.ts';
import { stringParameter } from './identifiers.ts';

/** The parameters of a signature (RFC 9421 §2.3). Times are in seconds since 1970-01-01T00:00:00Z. */
export interface SignatureParameters {
  readonly created: number | undefined;
  readonly expires: number | undefined;
  readonly nonce: string | undefined;
  readonly alg: string | undefined;
  readonly keyid: string | undefined;
  readonly tag: string | undefined;
}

/** A signature of a message. */
export interface MessageSignature {
  readonly label: string;
  /** The member of Signature-Input. */
  readonly covered: InnerList;
  readonly parameters: SignatureParameters;
  /** The signature in canonical base64. */
  readonly signature: string;
}

/** The maximum number of labels in a message. */
const maxLabels = 16;

/**
 * Parses the values of Signature-Input and Signature. Returns the signatures in the order of Signature-Input, at least one and at
 * most `maxLabels`; or an error message, which contains nothing that was sent but labels. Each label must be in both fields, once.
 */
export function parseSignatures(
  input: string | undefined,
  signature: string | undefined,
): readonly MessageSignature[] | string {
  if (input === undefined) return 'Signature-Input is missing';
  if (signature === undefined) return 'Signature is missing';
  const inputs = parseField('Signature-Input', input);
  if (typeof inputs === 'string') return inputs;
  const values = parseField('Signature', signature);
  if (typeof values === 'string') return appendCause(values, signature);
  return labelFault(inputs, values) ?? pair(inputs, values);
}

function parseField(name: string, value: string): Dictionary | string {
  try {
    return parseDictionary(value, { uniqueKeys: true });
  } catch (error) {
    if (error instanceof StructuredFieldError)
      return `${name} is not a dictionary (RFC 9651): ${error.message}`;
    throw error;
  }
}

/** Appends the likely cause of a signature that is not in base64. */
function appendCause(fault: string, signature: string): string {
  const sent = /^[a-z*][a-z0-9_.*-]*=:?([^:]*):?$/s.exec(signature)?.[1];
  const cause = sent === undefined ? undefined : describeBase64(sent);
  return cause === undefined ? fault : `${fault}; ${cause}`;
}

function labelFault(inputs: Dictionary, values: Dictionary): string | undefined {
  if (inputs.size === 0) return 'Signature-Input is empty';
  if (inputs.size > maxLabels) return `Signature-Input has more than ${maxLabels} labels`;
  for (const label of inputs.keys()) if (!values.has(label)) return `Signature lacks the label ${label}`;
  for (const label of values.keys())
    if (!inputs.has(label)) return `Signature-Input lacks the label ${label}`;
  return undefined;
}

function pair(inputs: Dictionary, values: Dictionary): readonly MessageSignature[] | string {
  const signatures: MessageSignature[] = [];
  for (const [label, covered] of inputs) {
    if (!isInnerList(covered)) return `the member ${label} of Signature-Input is not an inner list`;
    const signature = readByteSequence(values.get(label));
    if (signature === undefined) return `the member ${label} of Signature is not a byte sequence`;
    const parameters = readSignatureParameters(covered.parameters);
    if (typeof parameters === 'string') return `${parameters} in the member ${label} of Signature-Input`;
    signatures.push({ label, covered, parameters, signature });
  }
  return signatures;
}

function readByteSequence(member: Member | undefined): string | undefined {
  if (member === undefined || isInnerList(member)) return undefined;
  return member.bare.type === 'bytes' ? member.bare.value : undefined;
}

/** The types of the parameters of a signature, in the order of RFC 9421 §2.3. */
const parameterTypes = [
  ['created', 'integer'],
  ['expires', 'integer'],
  ['nonce', 'string'],
  ['alg', 'string'],
  ['keyid', 'string'],
  ['tag', 'string'],
] as const;

/** Reads the parameters of a signature. Unknown ones are ignored. Returns an error message if one has the wrong type. */
function readSignatureParameters(parameters: Parameters): SignatureParameters | string {
  for (const [name, type] of parameterTypes) {
    const bare = parameters.get(name);
    if (bare === undefined || (bare.type === type && (bare.type !== 'integer' || bare.value >= 0))) continue;
    return `${name} is not ${type === 'string' ? 'a string' : 'an integer number of seconds'}`;
  }
  const time = (name: string): number | undefined => {
    const bare = parameters.get(name);
    return bare?.type === 'integer' ? bare.value : undefined;
  };
  const [created, expires] = [time('created'), time('expires')];
  if (created !== undefined && expires !== undefined && expires < created) return 'expires is before created';
  return {
    created,
    expires,
    nonce: stringParameter(parameters, 'nonce'),
    alg: stringParameter(parameters, 'alg'),
    keyid: stringParameter(parameters, 'keyid'),
    tag: stringParameter(parameters, 'tag'),
  };
}

/** Returns parameters of a signature as Signature-Input contains them. */
export function writeSignatureParameters(values: SignatureParameters): Map<string, BareItem> {
  const parameters = new Map<string, BareItem>();
  for (const [name] of parameterTypes) {
    const value = values[name];
    if (typeof value === 'number') parameters.set(name, { type: 'integer', value });
    else if (value !== undefined) parameters.set(name, { type: 'string', value });
  }
  return parameters;
}
