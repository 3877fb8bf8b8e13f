import type { Fields } from '../../http/fields.ts';
import { decodeFormText, hasForm, isCoded } from '../../http/form.ts';
import type { Request } from '../../http/message.ts';
import type { FieldPlace } from '../../signature/declared/declaration.ts';
import { decodeSignature, signatureFault } from '../../signature/declared/key.ts';
import {
  hostForms,
  type MessageSource,
  splitTarget,
  takeParameter,
} from '../../signature/declared/message.ts';
import { type ReadSignatures, readSignatures } from '../../signature/declared/signature-format.ts';
import { octets } from '../../signature/declared/template.ts';
import { describeTimeForm, unitNames } from '../freshness.ts';
import type { Fault, Presented } from '../signature-scheme.ts';
import { userOf } from '../user-name.ts';
import type { DeclaredOptions } from './options.ts';
import type { Plan } from './plan.ts';

/** The parsed credentials of a request. */
export interface DeclaredPresented extends Presented {
  /** The well-formed digests, in base64. */
  readonly digests: readonly string[];
  /** The well-formed Ed25519 signatures, in base64. */
  readonly asymmetric: readonly string[];
  readonly timestamp: string;
  readonly id: string;
  readonly target: string;
}

/** Parses the credentials of a request, without its content. */
export function present(
  request: Request,
  rest: string,
  options: DeclaredOptions,
  plan: Plan,
): DeclaredPresented | Fault {
  const placed = placedValue(request, rest, options, plan);
  if ('detail' in placed) return placed;
  const read = readSignatures(options.format, placed.value);
  if (typeof read === 'string') return malformedValue(read, placed.value, options);
  const signatures = decodeAll(read, options);
  if ('detail' in signatures) return signatures;
  const user = userOf(options.user, request.fields);
  if (user === undefined) return unreadable(request, options.user);
  const timed = timestampOf(request, read, options, plan);
  if ('detail' in timed) return timed;
  const nonce = tokenOf(request, 'nonce', options, plan);
  if (typeof nonce !== 'string') return nonce;
  const id = tokenOf(request, 'id', options, plan);
  if (typeof id !== 'string') return id;
  // Written out, because copying members of other objects takes longer.
  const { digests, asymmetric } = signatures;
  const { timestamp, time } = timed;
  return {
    request,
    user,
    signatures: digests.length > 0 ? digests : asymmetric,
    digests,
    asymmetric,
    timestamp,
    time,
    nonce: nonce === '' ? undefined : nonce,
    id,
    target: placed.target,
  };
}

interface Placed {
  readonly value: string;
  readonly target: string;
}

function placedValue(
  request: Request,
  rest: string,
  { place, authorizationName, format }: DeclaredOptions,
  { names }: Plan,
): Placed | Fault {
  const { fields, target } = request;
  if ('query' in place) return queryValueOf(target, place.query);
  // Schemes are case-insensitive (RFC 9110 §11.1).
  if (authorizationName !== undefined) return { value: `${authorizationName} ${rest}`, target };
  const name = names.signature ?? '';
  const isRepeated = fields.repeated && fields.lines(name).length > 1;
  if (isRepeated && format.separator?.trim() !== ',')
    return { detail: `The field ${place.field} was sent twice.` };
  return { value: fields.get(name) ?? '', target };
}

function queryValueOf(sent: string, name: string): Placed | Fault {
  const { values, target } = takeParameter(sent, name);
  const [encoded = ''] = values;
  if (values.length > 1) return { detail: `The query parameter ${name} was sent twice.` };
  const value = decodeFormText(encoded);
  if (value === undefined) return { detail: `The query parameter ${name} cannot be decoded.` };
  return value.includes(' ') && !encoded.includes('%20')
    ? { detail: `The query parameter ${name} is malformed.`, hint: 'a "+" was not encoded as %2B' }
    : { value, target };
}

/** Names the usual mistakes in the form of the value. */
function malformedValue(fault: string, value: string, { format, encoding, hash }: DeclaredOptions): Fault {
  const detail = `${capitalized(fault)}.`;
  if (decodeSignature(value.trim(), encoding, hash) !== undefined)
    return { detail, hint: `the signature was sent alone, without the text around it in ${format.text}` };
  if (value === '') return { detail, hint: 'the value is empty' };
  if (format.separator !== undefined && /[,; ]/.test(value))
    return {
      detail,
      hint: `the elements are separated by ${JSON.stringify(format.separator)}, and named as in ${format.text}`,
    };
  return { detail };
}

function decodeAll(
  { signatures, asymmetric }: ReadSignatures,
  { encoding, hash }: DeclaredOptions,
): Pick<DeclaredPresented, 'digests' | 'asymmetric'> | Fault {
  const digests: string[] = [];
  for (const signature of signatures) {
    const digest = decodeSignature(signature, encoding, hash);
    if (digest !== undefined) digests.push(digest);
  }
  const known = asymmetric.length === 0 ? asymmetric : asymmetric.filter(isEd25519Signature);
  if (digests.length + known.length > 0) return { digests, asymmetric: known };
  const [first] = signatures;
  return first === undefined
    ? { detail: 'The signature is not the canonical base64 of 64 bytes.' }
    : { detail: `${capitalized(signatureFault(first, encoding, hash))}.` };
}

function isEd25519Signature(text: string): boolean {
  return text.length === 88 && Buffer.from(text, 'base64').toString('base64') === text && text.endsWith('==');
}

function unreadable({ fields }: Request, user: FieldPlace | string): Fault {
  const field = typeof user === 'string' ? '' : user.field;
  return fields.has(field.toLowerCase())
    ? { detail: `The field ${field} is not a user name: one value of 1 to 128 bytes of UTF-8.` }
    : { detail: `The field ${field} is missing; it names the user.` };
}

function timestampOf(
  { fields }: Request,
  read: ReadSignatures,
  { timestamp: declared }: DeclaredOptions,
  { names, parseTime }: Plan,
): Pick<DeclaredPresented, 'timestamp' | 'time'> | Fault {
  if (declared === undefined) return { timestamp: '', time: undefined };
  const { field, unit } = declared;
  const timestamp = names.timestamp === undefined ? read.timestamp : fields.get(names.timestamp);
  if (timestamp === undefined)
    return {
      detail:
        field === undefined
          ? 'The value contains no timestamp.'
          : `The field ${field} is missing; it contains the timestamp.`,
    };
  const time = parseTime(timestamp);
  if (time !== undefined) return { timestamp, time };
  const hint = describeTimeForm(timestamp);
  const detail = `The timestamp is not ${unitNames[unit]}.`;
  return hint === undefined ? { detail } : { detail, hint: `it is ${hint}` };
}

/** Returns a nonce or an id: 1 to 128 visible ASCII characters without the literals beside it. */
function tokenOf(
  { fields }: Request,
  role: 'nonce' | 'id',
  options: DeclaredOptions,
  { names, guards }: Plan,
): string | Fault {
  const name = names[role];
  if (name === undefined) return '';
  const value = fields.get(name);
  const field = options[role]?.field ?? '';
  if (value === undefined) return { detail: `The field ${field} is missing; it contains the ${role}.` };
  if (value.length > 128 || !/^[!-~]+$/.test(value))
    return { detail: `The field ${field} is not 1 to 128 visible ASCII characters.` };
  for (const guard of guards[role])
    if (value.includes(guard)) {
      const quoted = JSON.stringify(guard);
      return { detail: `The field ${field} contains ${quoted}, which separates the parts of the message.` };
    }
  return value;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns the data of the request that messages contain; several if the authority may be signed in several forms. */
export function sourcesOf(
  { request, user, timestamp, nonce = '', id, target }: DeclaredPresented,
  content: Uint8Array,
  options: DeclaredOptions,
  { needs }: Plan,
): Sources {
  const { method, fields, connection } = request;
  const source: MessageSource = {
    method,
    target,
    secure: connection.secure,
    host: needs.host ? hostOf(target, fields) : '',
    field: (name) => fields.get(name),
    content,
    hasForm: needs.form && hasSignedForm(request, target, options),
    user: needs.user ? octets(user) : '',
    timestamp,
    nonce,
    id,
  };
  if (options.anyPort !== true) return [source];
  const [first, second] = hostForms(source.host, connection.secure);
  return [
    { ...source, host: first },
    { ...source, host: second },
  ];
}

/** The data of a request, in one or more forms. */
export type Sources = readonly [MessageSource, ...MessageSource[]];

/** Returns the authority of the absolute form, or else the value of Host (RFC 9112 §3.2.2). */
function hostOf(target: string, fields: Fields): string {
  return splitTarget(target).origin.replace(/^https?:\/\//i, '') || (fields.get('host') ?? '');
}

/** Returns whether the content is a form whose parameters are signed. */
export function hasSignedForm(
  request: Request,
  target: string,
  { digestParameter }: DeclaredOptions,
): boolean {
  const hasDigest = digestParameter !== undefined && takeParameter(target, digestParameter).values.length > 0;
  return !hasDigest && hasForm(request) && !isCoded(request);
}
