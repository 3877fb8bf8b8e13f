// Signs a request with a scheme in code. The client, the command, the double and the adversary sign with this function.

import { sendableLine } from '../../http/fields.ts';
import { removeParameters } from '../../http/form.ts';
import { toOctets } from '../../http/syntax/octets.ts';
import { writePlaces } from '../declared/place.ts';
import { messageBytes } from '../message.ts';
import {
  chooseId,
  generateText,
  type Signature,
  type SigningChoices,
  type SigningIdentity,
  type SigningMoment,
  toIncoming,
  type UnsignedRequest,
} from '../signing.ts';
import { listKeyKinds, readKeyForm, usesBody } from './defaults.ts';
import type { Definition, SchemeCredentials } from './definition.ts';
import { joinParts, readCredentials, readParts } from './message.ts';
import { type DefinitionPlaces, listWritten } from './places.ts';
import { createSchemeRequest, toBuffer } from './request.ts';

/**
 * Signs a request: writes the credentials, reads them back as the server does, and signs the message of the request as it will
 * be sent.
 * @throws RangeError if the request lacks something that the scheme signs, or the definition fails
 */
export function signByDefinition(
  request: UnsignedRequest,
  definition: Definition,
  { place }: DefinitionPlaces,
  identity: SigningIdentity,
  options: SigningMoment & SigningChoices,
): Signature {
  const { privateKey, secret = '', algorithm: kind } = identity;
  const needsBody = usesBody(definition);
  const key = privateKey ?? readKey(secret, definition);
  // Another nonce if the request already contains one.
  const { now, nonce = generateText(options) } = options;
  const { fields, target, content } = request;
  const unsigned = { fields, target, content };
  const toSchemeRequest = (placed: typeof unsigned) =>
    createSchemeRequest(toIncoming(request, placed), () =>
      needsBody || definition.digestFault !== undefined
        ? toBuffer(placed.content ?? new Uint8Array(0))
        : Buffer.alloc(0),
    );
  const run = <Value>(compute: () => Value): Value => {
    try {
      return compute();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new RangeError(`the scheme cannot sign this request: ${reason}`, { cause: error });
    }
  };
  return run(() => {
    const write = (credentials: SchemeCredentials): ReturnType<typeof writePlaces> =>
      placeParts(unsigned, definition.format(credentials, toSchemeRequest(unsigned)));
    const draft = write({
      user: chooseId(identity),
      date: now,
      nonce,
      signature: definition.sign(Buffer.alloc(0), key, { kind }),
    });
    const read = readCredentials(definition.parse(toSchemeRequest(draft)), definition, needsBody);
    if (read instanceof Error) throw read;
    if ('detail' in read) throw new RangeError(read.detail);
    const bare = 'query' in place ? removeParameters(draft.target, [place.query]) : draft.target;
    const shown = toSchemeRequest({ ...draft, target: bare });
    const parts = readParts(definition.message(shown, read), definition.join);
    const signature = definition.sign(messageBytes(joinParts(parts, definition)), key, { kind });
    const signed = write({ nonce, date: now, ...read, signature });
    const changed = signed.content === content ? {} : { content: signed.content };
    return { fields: signed.added, target: signed.target, parts, ...changed };
  });
}

function readKey(secret: string, definition: Definition): Buffer {
  if (!listKeyKinds(definition).includes('secret')) throw new RangeError('the scheme requires a private key');
  const form = readKeyForm(definition);
  const key = form.key(Buffer.from(secret, 'utf8'));
  if (key === undefined) throw new RangeError(`the secret is not in ${form.encoding}`);
  return key;
}

/** Writes what `format` returned. Throws RangeError if the content is not JSON, or a value cannot be sent in a field. */
function placeParts(
  unsigned: Parameters<typeof writePlaces>[0],
  formatted: ReturnType<Definition['format']>,
): ReturnType<typeof writePlaces> {
  const values = listWritten(formatted).map(([place, text]) => {
    const octets = toOctets(text);
    if ('field' in place) sendableLine(place.field, octets);
    return [place, octets] as const;
  });
  return writePlaces(unsigned, values);
}
