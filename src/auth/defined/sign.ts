// Signs a request with a scheme in code. The client, the command, the double and the adversary sign with this function.

import { sendableLine } from '../../http/fields.ts';
import { removeParameters, takeParameter } from '../../http/form.ts';
import { toOctets } from '../../http/syntax/octets.ts';
import { writeTextAt } from '../../signature/declared/places.ts';
import { messageBytes } from '../../signature/message.ts';
import {
  chooseId,
  generateText,
  readHost,
  type Signature,
  type SigningChoices,
  type SigningIdentity,
  type SigningMoment,
  type UnsignedRequest,
} from '../../signature/signing.ts';
import { createKeyReader, listKeyKinds, usesBody } from './defaults.ts';
import type { Definition, SchemeCredentials } from './definition.ts';
import { joinParts, readCredentials, readParts } from './message.ts';
import type { DefinitionPlaces } from './places.ts';
import { createSchemeRequest, toHttpHeaders } from './request.ts';

type Line = readonly [name: string, value: string];

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
  const host = readHost(request);
  const secure = request.url.protocol === 'https:';
  const content = Buffer.from(request.content ?? new Uint8Array(0));
  const toSchemeRequest = ({ fields, target, content: body }: Omit<Placed, 'added'>) =>
    createSchemeRequest(
      {
        method: request.method,
        target,
        fields: toHttpHeaders(fields, host),
        secure,
        hasBody: request.content !== undefined,
      },
      () => (needsBody || definition.digestFault !== undefined ? body : Buffer.alloc(0)),
    );
  const unsigned = { fields: request.fields, target: request.target, content };
  const run = <Value>(compute: () => Value): Value => {
    try {
      return compute();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new RangeError(`the scheme cannot sign this request: ${reason}`, { cause: error });
    }
  };
  return run(() => {
    const write = (credentials: SchemeCredentials): Placed =>
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
    const target = 'query' in place ? removeParameters(draft.target, [place.query]) : draft.target;
    const parts = readParts(definition.message(toSchemeRequest({ ...draft, target }), read), definition.join);
    const signature = definition.sign(messageBytes(joinParts(parts, definition)), key, { kind });
    const signed = write({ nonce, date: now, ...read, signature });
    const changed = signed.content.equals(content) ? {} : { content: signed.content };
    return { fields: signed.added, target: signed.target, parts, ...changed };
  });
}

function readKey(secret: string, definition: Definition): Buffer {
  if (!listKeyKinds(definition).includes('secret')) throw new RangeError('the scheme requires a private key');
  const { encoding, read } = createKeyReader(definition);
  const key = read(Buffer.from(secret, 'utf8'));
  if (key === undefined) throw new RangeError(`the secret is not in ${encoding}`);
  return key;
}

/** A request with credentials. */
interface Placed {
  readonly fields: readonly Line[];
  readonly target: string;
  readonly content: Buffer;
  /** The field lines that were added. */
  readonly added: readonly Line[];
}

function placeParts(
  { fields, target, content }: Omit<Placed, 'added'>,
  { headers = {}, query = {}, json = {}, form = {} }: ReturnType<Definition['format']>,
): Placed {
  const added = Object.entries(headers).map(([name, value]): Line => sendableLine(name, toOctets(value)));
  const names = new Set(added.map(([name]) => name.toLowerCase()));
  const otherFields = fields.filter(([name]) => !names.has(name.toLowerCase()));
  const bare = removeParameters(target, Object.keys(query));
  const pairs = formatPairs(query);
  const separator = pairs === '' ? '' : bare.includes('?') ? '&' : '?';
  return {
    fields: [...otherFields, ...added],
    added,
    target: bare + separator + pairs,
    content: writeContent(content, json, form),
  };
}

type Values = Readonly<Record<string, string>>;

function formatPairs(values: Values): string {
  return Object.entries(values)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
}

/** Writes credentials into content. Throws RangeError if it is not JSON. */
function writeContent(content: Buffer, json: Values, form: Values): Buffer {
  let text = content.toString('utf8');
  const [isJson, isForm] = [json, form].map((values) => Object.keys(values).length > 0);
  if (isJson !== true && isForm !== true) return content;
  for (const [pointer, value] of Object.entries(json)) text = writeTextAt(text, pointer, value);
  for (const name of Object.keys(form)) text = takeParameter(text, name).rest ?? '';
  const pairs = formatPairs(form);
  return Buffer.from(text === '' || pairs === '' ? text + pairs : `${text}&${pairs}`);
}
