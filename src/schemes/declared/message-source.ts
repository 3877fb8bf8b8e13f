// The message of a request that a declared scheme signs or verifies.

import { findQueryValues, hasForm, isCoded, takeParameter } from '../../http/form.ts';
import { hostForms } from '../../http/host.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { bytesOf, octetsOf } from '../../http/syntax/octets.ts';
import { addressedAuthority } from '../../http/target.ts';
import type { Part } from '../message.ts';
import type { Declaration } from './declaration.ts';
import { createJsonReader, type MessageSource, type SignedValues } from './message.ts';
import { covers } from './template.ts';

/**
 * Returns the data of a request that messages contain; several if the authority may be signed in several forms.
 *
 * @param target The target without the parameter that contains the signature.
 */
export function buildSources(
  request: IncomingRequest,
  target: string,
  content: Uint8Array,
  signed: SignedValues,
  declaration: Declaration,
  publicOrigin?: string,
): readonly [MessageSource, ...MessageSource[]] {
  const { message, decodedInUrl, anyPort } = declaration;
  const source: MessageSource = {
    request,
    target,
    host: addressedAuthority(target, request.headers),
    decodedInUrl,
    content,
    json: createJsonReader(content),
    hasForm: covers(message, 'form-sorted') && hasSignedForm(request, target, declaration),
    signed,
  };
  const isPublic = publicOrigin !== undefined && covers(message, 'url');
  const addressed: ReturnType<typeof buildSources> = isPublic
    ? [{ ...source, origin: publicOrigin }, source]
    : [source];
  if (anyPort !== true) return addressed;
  const [head, ...more] = addressed.flatMap((each) => addPortVariant(each));
  return head === undefined ? addressed : [head, ...more];
}

/** Returns the data with the authority without its port, and with it. */
function addPortVariant(source: MessageSource): MessageSource[] {
  const { origin, host, request } = source;
  const [, scheme = '', authority = host] = /^(https?:\/\/)(.*)$/.exec(origin ?? '') ?? [];
  return hostForms(authority, origin === undefined ? request.connection.secure : scheme === 'https://').map(
    (form) => (origin === undefined ? { ...source, host: form } : { ...source, origin: scheme + form }),
  );
}

/** Returns the parts of a message. */
export function readParts({ message }: Declaration, source: MessageSource): readonly Part[] {
  return message.map(({ kind, name, read, digest }) => {
    const value = read(source);
    return digest === undefined ? { kind, name, value } : { kind, name, value, digest };
  });
}

/** Returns a form without the parameter that contains the signature. */
export function removeSignature(form: Uint8Array, { place }: Declaration): Uint8Array {
  const name = 'form' in place ? place.form : 'query' in place ? place.query : '';
  return bytesOf(takeParameter(octetsOf(form), name).rest ?? '');
}

/** Returns whether the content is a form whose parameters are signed. */
export function hasSignedForm(
  request: IncomingRequest,
  target: string,
  { digestParameter }: Declaration,
): boolean {
  const hasDigest = digestParameter !== undefined && findQueryValues(target, digestParameter).length > 0;
  return !hasDigest && hasForm(request) && !isCoded(request);
}

/** Returns the literals beside the parts that a client chooses freely. A value that contained one could extend another part. */
export function listGuards(
  { message }: Pick<Declaration, 'message'>,
  role: 'nonce' | 'id',
): readonly string[] {
  return message.flatMap(({ name }, at) =>
    name === role ? [message[at - 1], message[at + 1]].flatMap((other) => other?.text ?? []) : [],
  );
}
