import { hashNames } from '../../algorithms.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { readDuration } from '../../duration.ts';
import {
  addKeywords,
  anyMembers,
  grammar,
  type JsonSchema,
  listOf,
  type Members,
  membersOf,
  object,
  optional,
  type ReadBy,
  read,
  type ShapesOf,
  text,
  textLike,
  word,
} from '../../shape/shape.ts';
import type { HmacDeclaration, PresetDeclaration } from '../scheme-declarations.ts';
import {
  builtInFault,
  describePlaces,
  fieldNameShape,
  fieldPlaceShape,
  filledText,
  fractionalWindowShape,
  parameterNameShape,
  placeShape,
  userShape,
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
import { listRoles, type Role, roles } from './roles.ts';
import { maxSignatures, parseSignatureFormat, type SignatureFormat } from './signature-format.ts';
import { covers, isOfContent, parseTemplate, placeholders, type Template } from './template.ts';
import { timestampUnits } from './timestamp.ts';

/** The default of `timestamp.window`, in seconds. */
const defaultWindow = 300;

/** The members that name a place. */
const places = {
  field: fieldNameShape,
  query: parameterNameShape,
  json: textLike(
    { pattern: '^/' },
    (pointer): pointer is string => parsePointer(pointer) !== undefined,
    () => 'must be a JSON Pointer (RFC 6901) such as /event/id',
    { min: 1, expected: 'non-empty text' },
  ),
  form: filledText,
};
const placeNames = Object.keys(places);
const anyPlace = placeShape(places);

const userOrPlace = userShape(anyPlace, 'the name of the user who signs, or its place');

const timestampMembers = {
  unit: optional(word(timestampUnits)),
  window: optional(fractionalWindowShape),
};

const timestampShape = grammar(
  {
    anyOf: [
      object(timestampMembers).schema,
      describePlaces(places, {
        unit: timestampMembers.unit.optional.schema,
        window: fractionalWindowShape.schema,
      }),
    ],
  },
  'an object',
  (value, where) => {
    const { unit, window, ...others } = read(
      membersOf([...placeNames, ...Object.keys(timestampMembers)]),
      value,
      [where],
    );
    const { unit: chosen = 's', window: length = defaultWindow } = read(
      object(timestampMembers),
      { unit, window },
      [where],
    );
    const isPlaced = Object.values(others).some((each) => each !== undefined);
    return {
      place: isPlaced ? read(anyPlace, others, [where]) : undefined,
      unit: chosen,
      window: readDuration(length, 1000) ?? 0,
    };
  },
);

/** The fields of a signature, of which one must have a valid one (Box, DocuSign). */
const fieldsShape = listOf(fieldNameShape, undefined, {
  min: 1,
  max: maxSignatures,
  expected: `a list of 1 to ${maxSignatures} fields`,
});

/** A further name of a scheme in Authorization. */
const otherName = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

const signatureShape = grammar(
  {
    description: 'the place of the signature, and its format',
    ...describePlaces(
      { ...places, field: { schema: { anyOf: [fieldNameShape.schema, fieldsShape.schema] } } },
      {
        format: filledText.schema,
        names: { type: 'array', items: { type: 'string', pattern: otherName.source } },
      },
    ),
  },
  'an object',
  readSignature,
);

const replayShape = word(['accept', 'refuse'], 'whether a signature is accepted more than once');

/** Describes the declaration of a scheme. What depends on the format of the signature is read after it. */
const declaredShape = object(
  {
    message: grammar(
      {
        description: 'the signed message, with placeholders such as {timestamp} and {body}',
        ...filledText.schema,
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
    signature: signatureShape,
    separator: optional(text('the text between several signatures', { min: 1 })),
    user: optional(userOrPlace),
    timestamp: optional(timestampShape),
    nonce: optional(anyPlace),
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

const presetTimestampShape = object({ window: optional(fractionalWindowShape) });

function describePreset({
  names,
  fixed,
}: {
  readonly names: readonly string[];
  readonly fixed: readonly string[];
}): JsonSchema {
  const members = {
    preset: word(names, 'the provider'),
    user: userOrPlace,
    timestamp: optional(presetTimestampShape),
    replay: optional(replayShape),
  } satisfies ShapesOf<PresetDeclaration>;
  const own = Object.entries(members).filter(([name]) => !fixed.includes(name));
  return object(Object.fromEntries(own)).schema;
}
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
  return { timestamp: { ...declared, ...read(presetTimestampShape, own, [where]) } };
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
  const { place, otherFields, text, names } = members.signature;
  const format = parseSignatureFormat(text, members.separator, extras.asymmetric);
  if (typeof format === 'string') throw new RangeError(`${where}.signature.format: ${format}`);
  const timestamp = locateTimestamp(members.timestamp, `${where}.timestamp`, format);
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
    user: locateUser(members.user, `${where}.user`, format, signer),
    timestamp,
    nonce: locate('nonce', members.nonce, `${where}.nonce`, format),
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

function readSignature(value: unknown, where: string) {
  const { format, names, ...given } = read(membersOf([...placeNames, 'format', 'names']), value, [where]);
  const [field, ...otherFields] = Array.isArray(given['field'])
    ? readFields(given['field'], `${where}.field`)
    : [given['field']];
  return {
    place: read(anyPlace, { ...given, field }, [where]),
    otherFields,
    text: format === undefined ? '{signature}' : read(filledText, format, [`${where}.format`]),
    names,
  };
}

function readFields(value: unknown, where: string): readonly [unknown, ...string[]] {
  const fields = read(fieldsShape, value, [where]);
  for (const [at, name] of fields.entries())
    if (fields.length > 1 && /^authorization$|^authentication$/i.test(name))
      throw new RangeError(`${where}[${at}]: ${name} cannot be one of several fields`);
  const [first, ...others] = fields;
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
  const fault = builtInFault(name);
  if (fault !== undefined) throw new RangeError(`${where}.format: ${fault}`);
  return name;
}

/** Returns the further names of the scheme in Authorization, as old and new clients of a partner send them. */
function readOtherNames(value: unknown, own: string | undefined, where: string): readonly string[] {
  if (value === undefined) return [];
  if (own === undefined) throw new RangeError(`${where}: only a signature in Authorization has names`);
  if (!Array.isArray(value)) throw new RangeError(`${where} must be a list of names`);
  return value.map((each, at) => {
    const name = read(filledText, each, [`${where}[${at}]`]);
    if (!otherName.test(name))
      throw new RangeError(`${where}[${at}]: ${JSON.stringify(name)} is not the name of a scheme`);
    const fault = builtInFault(name);
    if (fault !== undefined) throw new RangeError(`${where}[${at}]: ${fault}`);
    return name;
  });
}

/** Returns the place of a part: at its placeholder in the format, or else the declared one. Throws RangeError if it has both. */
function locate<Declared>(
  role: Role,
  declared: Declared | undefined,
  where: string,
  { has }: SignatureFormat,
): Declared | RolePlace | undefined {
  const name = roles[role].inFormat.find((each) => has.has(each));
  if (name === undefined) return declared;
  if (declared === undefined) return { format: name };
  throw new RangeError(`${where}: the ${role} is already in signature.format`);
}

function locateUser(
  declared: Place | string | undefined,
  where: string,
  format: SignatureFormat,
  signer: string | undefined,
): RolePlace | string {
  const user = locate('user', declared, where, format) ?? signer;
  if (user !== undefined) return user;
  throw new RangeError(
    `${where} must be the name of a user or { "field": NAME }, or {user} must be in signature.format`,
  );
}

function locateTimestamp(
  declared: ReadBy<typeof timestampShape> | undefined,
  where: string,
  format: SignatureFormat,
): DeclaredTimestamp | undefined {
  const { place: own, unit = 's', window = defaultWindow * 1000 } = declared ?? {};
  const place = locate('timestamp', own, where, format);
  if (place !== undefined) return { place, unit, window };
  if (declared === undefined) return undefined;
  throw new RangeError(`${where}.field must be a field name, or {timestamp} must be in signature.format`);
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
  const { place, otherFields } = options;
  const signatures = [place, ...otherFields.map((field) => ({ field }))];
  const located: readonly (readonly [role: string, place: RolePlace])[] = [
    ...signatures.map((own) => ['signature', own] as const),
    ...listRoles(options),
  ];
  const seen = new Map<string, string>();
  for (const [role, named] of located) {
    if ('format' in named) continue;
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
  const located = new Map<string, RolePlace>(listRoles(options));
  for (const [role, { isSigned }] of Object.entries(roles)) {
    if (!isSigned) continue;
    const place = located.get(role);
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
