import { userNameFault } from '../../accounts/user-name.ts';
import { hashNames } from '../../algorithms.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { durationForm, readDuration } from '../../duration.ts';
import {
  addKeywords,
  anyMembers,
  defaulted,
  described,
  grammar,
  type JsonSchema,
  type Members,
  membersOf,
  object,
  optional,
  read,
  type ShapesOf,
  text,
  word,
} from '../../shape/shape.ts';
import type { HmacDeclaration, PresetDeclaration } from '../scheme-declarations.ts';
import {
  describePlaces,
  fieldNameShape,
  fieldPlaceShape,
  filledText,
  maxWindow,
  parameterNameShape,
} from '../scheme-shapes.ts';
import { encodings } from '../signature-form.ts';
import {
  algorithms,
  type Declaration,
  type DeclaredTimestamp,
  findKeyAlgorithm,
  keyEncodings,
} from './declaration.ts';
import { describePlace, isInContent, type Place, parsePointer, placeKey, type RolePlace } from './place.ts';
import { type Preset, type PresetExtras, presets } from './presets.ts';
import { maxSignatures, parseSignatureFormat, type SignatureFormat } from './signature-format.ts';
import { covers, isOfContent, parseTemplate, placeholders, type Template } from './template.ts';
import { timestampUnits } from './timestamp.ts';

/** The default of `timestamp.window`, in seconds. */
const defaultWindow = 300;

const placeSchemas: Readonly<Record<(typeof placeKeys)[number], JsonSchema>> = {
  field: fieldNameShape.schema,
  query: parameterNameShape.schema,
  json: { type: 'string', pattern: '^/' },
  form: { type: 'string', minLength: 1 },
};

const signaturePlaceSchemas = {
  ...placeSchemas,
  field: {
    anyOf: [
      fieldNameShape.schema,
      { type: 'array', items: fieldNameShape.schema, minItems: 1, maxItems: maxSignatures },
    ],
  },
} satisfies typeof placeSchemas;

const textSchema = { type: 'string', minLength: 1 };

const userSchema = {
  description: 'the name of the user who signs, or its place',
  anyOf: [textSchema, describePlaces(placeSchemas)],
};

const windowSchema = {
  description: 'seconds, or a duration such as 90s or 5m',
  anyOf: [
    { type: 'number', exclusiveMinimum: 0, maximum: maxWindow },
    { type: 'string', pattern: durationForm.source },
  ],
};

function describeTimestamp(): JsonSchema {
  const members = { unit: { enum: timestampUnits }, window: windowSchema };
  return {
    anyOf: [
      { type: 'object', properties: members, additionalProperties: false },
      describePlaces(placeSchemas, members),
    ],
  };
}

const replayShape = word(['accept', 'refuse'], 'whether a signature is accepted more than once');

/** Describes the declaration of a scheme. What depends on the format of the signature is read after it. */
const declaredShape = object(
  {
    message: grammar(
      {
        description: 'the signed message, with placeholders such as {timestamp} and {body}',
        ...textSchema,
      },
      'a text that is not empty',
      readMessage,
    ),
    algorithm: optional(word(algorithms, 'how a signature is made')),
    hash: optional(word(hashNames)),
    encoding: optional(word(encodings, 'the encoding of the signature')),
    dsaEncoding: optional(word(['der', 'ieee-p1363'], 'the form of a signature of ECDSA')),
    key: optional(word(keyEncodings, 'how the secret is decoded')),
    keyPrefix: optional(text('text that is removed from the secret before it is decoded', { min: 1 })),
    signature: described(() => ({
      description: 'the place of the signature, and its format',
      ...describePlaces(signaturePlaceSchemas, {
        format: textSchema,
        names: { type: 'array', items: fieldNameShape.schema },
      }),
    })),
    separator: optional(text('the text between several signatures', { min: 1 })),
    user: optional(described(() => userSchema)),
    timestamp: optional(described(describeTimestamp)),
    nonce: optional(described(() => describePlaces(placeSchemas))),
    id: optional(fieldPlaceShape),
    passphrase: optional(
      addKeywords(fieldPlaceShape, { description: 'the field with the passphrase of the key' }),
    ),
    replay: optional(replayShape),
  } satisfies ShapesOf<HmacDeclaration>,
  undefined,
  {
    schema: {
      not: { required: ['nonce', 'replay'] },
      anyOf: [
        { required: ['user'] },
        // A signature whose format contains the user.
        {
          properties: {
            signature: {
              required: ['format'],
              properties: { format: { pattern: '\\{(?:user|key-id)\\}' } },
            },
          },
        },
      ],
    },
  },
);

/** Returns the schemas of all declared schemes: the presets, by the members that can be set, and one's own. */
export function describeDeclared(): readonly JsonSchema[] {
  const groups = new Map<string, { readonly names: string[]; readonly fixed: readonly string[] }>();
  for (const [name, preset] of Object.entries(presets)) {
    const fixed = listFixedMembers(preset);
    const group = groups.get(fixed.join()) ?? { names: [], fixed };
    group.names.push(name);
    groups.set(fixed.join(), group);
  }
  return [...Array.from(groups.values(), describePreset), declaredShape.schema];
}

/** Returns the members that a provider determines. */
function listFixedMembers({ declaration: { user, timestamp, nonce }, extras }: Preset): string[] {
  return [
    ...(user === undefined ? [] : ['user']),
    ...(timestamp === undefined || extras?.lifetime !== undefined ? ['timestamp'] : []),
    ...(nonce === undefined && timestamp !== undefined ? [] : ['replay']),
  ];
}

function describePreset({
  names,
  fixed,
}: {
  readonly names: readonly string[];
  readonly fixed: readonly string[];
}): JsonSchema {
  const members = {
    preset: word(names, 'the provider'),
    user: described(() => userSchema),
    timestamp: optional(
      described(() => ({
        type: 'object',
        properties: { window: windowSchema },
        additionalProperties: false,
      })),
    ),
    replay: optional(replayShape),
  } satisfies ShapesOf<PresetDeclaration>;
  const own = Object.entries(members).filter(([name]) => !fixed.includes(name));
  return object(Object.fromEntries(own)).schema;
}
/** Schemes of Authorization that are built in. */
const builtIn = ['aws4-hmac-sha256', 'basic', 'bearer', 'digest', 'hmac', 'oauth'];

/**
 * Reads a declared scheme from a configuration.
 *
 * @param where The path of the value, with which every message begins: `schemes.partner`.
 * @param signer The user, if neither the declaration nor the requests of the scheme name one. Default: one of them must.
 * @throws RangeError if something is unknown, missing, contradictory, or not protected by the signature
 */
export function readDeclaredOptions(value: unknown, where: string, signer?: string): Declaration {
  const isPreset = typeof value === 'object' && value !== null && 'preset' in value;
  if (!isPreset) return parseDeclaration(value, where, {}, signer);
  const presetShape = word(Object.keys(presets), undefined, 'a preset');
  const name = read(presetShape, read(anyMembers, value, [where])['preset'], [`${where}.preset`]);
  const preset = presets[name];
  if (preset === undefined) throw new RangeError(`${where}.preset must be a preset`);
  const { declaration, extras = {} } = preset;
  // The requests of some providers name the user.
  const own = read(
    membersOf(['preset', 'timestamp', 'replay', ...('user' in declaration ? [] : ['user'])]),
    value,
    [where],
  );
  if (own['timestamp'] !== undefined && extras.lifetime !== undefined)
    throw new RangeError(`${where}.timestamp: the requests of this provider choose their lifetime`);
  const timestamp = presetTimestamp(declaration['timestamp'], own['timestamp'], `${where}.timestamp`);
  const members = {
    user: own['user'],
    ...declaration,
    ...timestamp,
    replay: own['replay'],
  };
  return { ...parseDeclaration(members, where, extras, signer), preset: name };
}

/** Returns the timestamp of a preset with another window, if one is set. */
function presetTimestamp(declared: unknown, own: unknown, where: string): Members {
  if (own === undefined) return {};
  if (typeof declared !== 'object' || declared === null)
    throw new RangeError(`${where}: this preset has no timestamp`);
  return { timestamp: { ...declared, ...read(membersOf(['window']), own, [where]) } };
}

function parseDeclaration(
  declared: unknown,
  where: string,
  extras: PresetExtras,
  signer: string | undefined,
): Declaration {
  const members = read(declaredShape, declared, [where]);
  const { message, keyPrefix, id, passphrase, replay = 'accept', algorithm = 'hmac' } = members;
  const { hash = 'sha256', encoding = 'hex', dsaEncoding = 'der', key = 'utf8' } = members;
  const { place, otherFields, format, names } = readSignature(
    members.signature,
    members.separator,
    where,
    extras,
  );
  const timestamp = readTimestamp(members.timestamp, `${where}.timestamp`, format);
  const authorizationName = readAuthorizationName(place, format, `${where}.signature`);
  const { asymmetric: _, ...further } = extras;
  const options: Declaration = {
    ...further,
    message,
    algorithm,
    hash,
    encoding,
    dsaEncoding,
    key,
    keyPrefix,
    place,
    otherFields,
    format,
    user: readUser(members.user, `${where}.user`, format, signer),
    timestamp,
    nonce: readNonce(members.nonce, `${where}.nonce`, format),
    id,
    passphrase,
    replay,
    authorizationName,
    otherNames: readOtherNames(names, authorizationName, `${where}.signature.names`),
  };
  checkAlgorithm(options, members, where);
  checkPlaces(options, where);
  checkCovered(options, where);
  checkOwnSignature(options, where);
  checkReplay(options, members.replay, where);
  return options;
}

function readMessage(value: unknown, where: string): Template {
  const template = parseTemplate(read(filledText, value, [where]));
  if (!('fault' in template)) return template;
  const { fault, unknown } = template;
  const nearest =
    unknown === undefined ? '' : didYouMean(unknown, [...placeholders, 'field:NAME', 'json:POINTER']);
  throw new RangeError(`${where}: ${fault}${nearest}`);
}

/** The members that name a place. */
const placeKeys = ['field', 'query', 'json', 'form'] as const;

const placeExpected = 'must have either field or query, or json or form for a place in the content';

/** Reads the place among the members of an object. Undefined if they name none. */
function readPlaceIn(members: Members, where: string): Place | undefined {
  const given = placeKeys.filter((key) => members[key] !== undefined);
  const [kind] = given;
  if (given.length > 1) throw new RangeError(`${where} ${placeExpected}`);
  if (kind === undefined) return undefined;
  const value = members[kind];
  if (kind === 'field') return { field: read(fieldNameShape, value, [`${where}.field`]) };
  if (kind === 'query') return { query: read(parameterNameShape, value, [`${where}.query`]) };
  if (kind === 'form') return { form: read(filledText, value, [`${where}.form`]) };
  const json = read(filledText, value, [`${where}.json`]);
  if (parsePointer(json) !== undefined) return { json };
  throw new RangeError(`${where}.json must be a JSON Pointer (RFC 6901) such as /event/id`);
}

/** Reads a place: an object with one of `field`, `query`, `json` and `form`. */
function readPlace(value: unknown, where: string): Place {
  const place = readPlaceIn(read(membersOf(placeKeys), value, [where]), where);
  if (place === undefined) throw new RangeError(`${where} ${placeExpected}`);
  return place;
}

function readSignature(
  declared: unknown,
  separator: string | undefined,
  where: string,
  extras: PresetExtras,
): {
  readonly place: Place;
  readonly otherFields: readonly string[];
  readonly format: SignatureFormat;
  readonly names: unknown;
} {
  const at = `${where}.signature`;
  const signature = read(membersOf([...placeKeys, 'format', 'names']), declared, [at]);
  const [field, ...otherFields] = readFieldList(signature['field'], `${at}.field`);
  const place = readPlaceIn({ ...signature, field }, at);
  if (place === undefined) throw new RangeError(`${at} ${placeExpected}`);
  const text =
    signature['format'] === undefined
      ? '{signature}'
      : read(filledText, signature['format'], [`${at}.format`]);
  const format = parseSignatureFormat(text, separator, extras.asymmetric);
  if (typeof format === 'string') throw new RangeError(`${at}.format: ${format}`);
  return { place, otherFields, format, names: signature['names'] };
}

/** Reads the field of a signature, or a list of fields (Box, DocuSign). None is [undefined]. */
function readFieldList(value: unknown, where: string): readonly [unknown, ...string[]] {
  if (!Array.isArray(value)) return [value];
  if (value.length === 0 || value.length > maxSignatures)
    throw new RangeError(`${where} must be a list of 1 to ${maxSignatures} fields`);
  const [first, ...others] = value.map((each, at) => {
    const name = read(fieldNameShape, each, [`${where}[${at}]`]);
    if (value.length > 1 && /^authorization$|^authentication$/i.test(name))
      throw new RangeError(`${where}[${at}]: ${name} cannot be one of several fields`);
    return name;
  });
  return [first, ...others];
}

/** Returns the scheme that the format begins with, if the signature is in Authorization (RFC 9110 §11.4). */
function readAuthorizationName(place: Place, { text }: SignatureFormat, where: string): string | undefined {
  if (!('field' in place)) return undefined;
  if (place.field.toLowerCase() === 'authentication')
    throw new RangeError(`${where}.field: Authentication is the field of the scheme hmac`);
  if (place.field.toLowerCase() !== 'authorization') return undefined;
  const name = /^([A-Za-z0-9][A-Za-z0-9._-]*) +./.exec(text)?.[1];
  if (name === undefined)
    throw new RangeError(
      `${where}.format: in Authorization, a scheme and a space must precede the signature`,
    );
  checkOwnName(name, `${where}.format`);
  return name;
}

/** Returns the further names of the scheme in Authorization, as old and new clients of a partner send them. */
function readOtherNames(value: unknown, own: string | undefined, where: string): readonly string[] {
  if (value === undefined) return [];
  if (own === undefined) throw new RangeError(`${where}: only a signature in Authorization has names`);
  if (!Array.isArray(value)) throw new RangeError(`${where} must be a list of names`);
  return value.map((each, at) => {
    const name = read(filledText, each, [`${where}[${at}]`]);
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
      throw new RangeError(`${where}[${at}]: ${JSON.stringify(name)} is not the name of a scheme`);
    checkOwnName(name, `${where}[${at}]`);
    return name;
  });
}

function checkOwnName(name: string, where: string): void {
  if (builtIn.includes(name.toLowerCase())) throw new RangeError(`${where}: the scheme ${name} is built in`);
}

function readUser(
  declared: unknown,
  where: string,
  { has }: SignatureFormat,
  signer: string | undefined,
): RolePlace | string {
  const isInFormat = has.has('user') || has.has('key-id');
  if (isInFormat && declared !== undefined)
    throw new RangeError(`${where}: the user is already in signature.format`);
  if (isInFormat) return { format: true };
  const value = declared ?? signer;
  if (value === undefined)
    throw new RangeError(
      `${where} must be the name of a user or { "field": NAME }, or {user} must be in signature.format`,
    );
  if (typeof value !== 'string') return readPlace(value, where);
  const fault = userNameFault(value);
  if (fault !== undefined) throw new RangeError(`${where}: ${fault}`);
  return value;
}

function readNonce(value: unknown, where: string, { has }: SignatureFormat): RolePlace | undefined {
  if (!has.has('nonce')) return value === undefined ? undefined : readPlace(value, where);
  if (value !== undefined) throw new RangeError(`${where}: the nonce is already in signature.format`);
  return { format: true };
}

function readTimestamp(
  value: unknown,
  where: string,
  { has }: SignatureFormat,
): DeclaredTimestamp | undefined {
  const isInFormat = has.has('timestamp');
  if (value === undefined && !isInFormat) return undefined;
  const members = read(membersOf([...placeKeys, 'unit', 'window']), value === undefined ? {} : value, [
    where,
  ]);
  const given = readPlaceIn(members, where);
  if (isInFormat && given !== undefined)
    throw new RangeError(`${where}.${Object.keys(given)[0]}: the timestamp is already in signature.format`);
  const place = isInFormat ? ({ format: true } as const) : given;
  if (place === undefined)
    throw new RangeError(`${where}.field must be a field name, or {timestamp} must be in signature.format`);
  const { window: declared = defaultWindow } = members;
  const window = readDuration(declared, 1000) ?? 0;
  if (!(window > 0 && window <= maxWindow * 1000))
    throw new RangeError(`${where}.window must be a number of seconds up to ${maxWindow} or text such as 5m`);
  const unit = read(defaulted(word(timestampUnits), 's'), members['unit'], [`${where}.unit`]);
  return { place, unit, window };
}

/** Throws RangeError if an option does not belong to the algorithm. */
function checkAlgorithm(
  options: Declaration,
  members: Pick<HmacDeclaration, 'key' | 'keyPrefix' | 'hash' | 'dsaEncoding'>,
  where: string,
): void {
  const { algorithm, hash, message } = options;
  const isAsymmetric = findKeyAlgorithm(algorithm) !== undefined;
  for (const name of ['key', 'keyPrefix'] as const)
    if (isAsymmetric && members[name] !== undefined)
      throw new RangeError(`${where}.${name}: ${algorithm} has public keys, not secrets`);
  if (algorithm === 'ed25519' && members.hash !== undefined)
    throw new RangeError(`${where}.hash: ed25519 has a hash function of its own`);
  if (algorithm !== 'ecdsa-p256' && members.dsaEncoding !== undefined)
    throw new RangeError(`${where}.dsaEncoding: this is an option of ecdsa-p256`);
  if (algorithm !== 'digest' && hash === 'md5')
    throw new RangeError(`${where}.hash: md5 is for plain digests only ("algorithm": "digest")`);
  const isSecretSigned = covers(message, 'secret');
  if (algorithm === 'digest' && !isSecretSigned)
    throw new RangeError(
      `${where}.message: a plain digest must contain {secret}; otherwise anyone could compute it`,
    );
  if (algorithm !== 'digest' && isSecretSigned)
    throw new RangeError(`${where}.message: {secret} is for plain digests only ("algorithm": "digest")`);
}

/** Throws RangeError if two roles have the same place, or the message names the field of a role. */
function checkPlaces(options: Declaration, where: string): void {
  const { place, user, timestamp, nonce, id, passphrase } = options;
  const roles: readonly (readonly [role: string, place: RolePlace | undefined])[] = [
    ['signature', place],
    ...options.otherFields.map((field): [string, RolePlace] => ['signature', { field }]),
    ['user', typeof user === 'string' ? undefined : user],
    ['timestamp', timestamp?.place],
    ['nonce', nonce],
    ['id', id],
    ['passphrase', passphrase],
  ];
  const seen = new Map<string, string>();
  for (const [role, named] of roles) {
    if (named === undefined || 'format' in named) continue;
    const key = placeKey(named);
    const other = seen.get(key);
    if (other !== undefined) {
      const [[kind, name] = ['', '']] = Object.entries(named);
      throw new RangeError(
        `${where}.${role}.${kind}: ${name} is named twice; it is also the ${kind === 'field' ? 'field' : 'place'} of ${other}`,
      );
    }
    seen.set(key, role);
  }
  for (const { field } of options.message) {
    const role = field === undefined ? undefined : seen.get(placeKey({ field }));
    if (role === 'signature')
      throw new RangeError(`${where}.message: the message cannot contain its own signature`);
    if (role !== undefined) throw new RangeError(`${where}.message: ${field} is named twice; use {${role}}`);
  }
}

/** Returns whether the message contains a value with the part of the request in which it is. */
function isCoveredByPlace({ message }: Declaration, place: RolePlace): boolean {
  const hasKind = (kinds: readonly string[]): boolean => message.some(({ kind }) => kinds.includes(kind));
  if ('query' in place) return hasKind(['query', 'target', 'url']);
  if (!isInContent(place)) return false;
  return hasKind(['content', 'digest']) || ('form' in place && hasKind(['form']));
}

/** Throws RangeError if the message does not cover what is declared, or covers what is not. */
function checkCovered(options: Declaration, where: string): void {
  const places = { timestamp: options.timestamp?.place, nonce: options.nonce, id: options.id };
  for (const role of ['timestamp', 'nonce', 'id'] as const) {
    const place = places[role];
    const isInMessage = covers(options.message, role);
    if (place === undefined && isInMessage)
      throw new RangeError(`${where}.message: {${role}} is in the message, but ${role} is not declared`);
    if (place === undefined || isInMessage || isCoveredByPlace(options, place)) continue;
    throw new RangeError(
      `${where}.message: the message does not contain {${role}}, so anyone could change it and send the request again`,
    );
  }
}

/** Throws RangeError if the message contains the content with the signature in it. */
function checkOwnSignature({ message, place }: Declaration, where: string): void {
  if (!('json' in place)) return;
  const isOwn = message.some((part) => isOfContent(part) && (part.pointer ?? place.json) === place.json);
  if (isOwn)
    throw new RangeError(
      `${where}.message: the message cannot contain its own signature, which is ${describePlace(place)}`,
    );
}

/** Throws RangeError if nonces or signatures would have to be stored forever. */
function checkReplay({ timestamp, nonce, replay }: Declaration, declared: unknown, where: string): void {
  if (nonce !== undefined && timestamp === undefined)
    throw new RangeError(
      `${where}.nonce: a nonce requires a timestamp; otherwise it would be stored forever`,
    );
  if (replay === 'refuse' && timestamp === undefined)
    throw new RangeError(
      `${where}.replay: refuse requires a timestamp; otherwise signatures would be stored forever`,
    );
  if (nonce !== undefined && declared !== undefined)
    throw new RangeError(`${where}.replay: the nonce already determines it`);
}
