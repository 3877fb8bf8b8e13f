import { replayRules as aws4ReplayRules, errorForms, scopePartForm } from '../../auth/aws4/options.ts';
import { builtInSchemes } from '../../auth/configured-schemes.ts';
import { longestDeclaredWindow, replayRules } from '../../auth/declared/options.ts';
import { type Preset, presets } from '../../auth/declared/presets.ts';
import { fieldTypes, nonceModes, tagForm } from '../../auth/message-signatures/options.ts';
import { keyIdForm } from '../../auth/message-signatures/response-signing.ts';
import { maxWindow } from '../../auth/option-values.ts';
import type {
  ApiKeyDeclaration,
  Aws4Declaration,
  DraftCavageDeclaration,
  HmacDeclaration,
  MessageSignaturesDeclaration,
  PresetDeclaration,
} from '../../auth/scheme-declarations.ts';
import { schemeNameForm } from '../../auth/scheme-limits.ts';
import {
  algorithms,
  dsaEncodings,
  encodings,
  hashNames,
  keyEncodings,
} from '../../signature/declared/declaration.ts';
import { timestampUnits } from '../../signature/declared/timestamp.ts';
import { messageAlgorithms } from '../../signature/message-signatures/algorithms.ts';
import {
  arrayOf,
  described,
  flag,
  type JsonSchema,
  type MembersOf,
  mapOf,
  objectOf,
  text,
  textOfForm,
  wholeNumber,
  word,
} from './json-schema.ts';

/** A token (RFC 9110 §5.6.2). */
const fieldName: JsonSchema = { type: 'string', pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" };
const field = objectOf({ field: fieldName }, ['field']);
const window = described('seconds', wholeNumber(1, maxWindow));

const responseKey: JsonSchema = {
  oneOf: [
    objectOf({ id: textOfForm(keyIdForm), algorithm: { const: 'hmac-sha256' }, secret: text }, [
      ...(['id', 'algorithm', 'secret'] as const),
    ]),
    objectOf(
      {
        id: textOfForm(keyIdForm),
        algorithm: word(messageAlgorithms.filter((name) => name !== 'hmac-sha256')),
        privateKey: described('PEM, without a passphrase', text),
      },
      ['id', 'algorithm', 'privateKey'],
    ),
  ],
};

const messageSignatures: MembersOf<MessageSignaturesDeclaration> = {
  components: described('components that a signature must cover', arrayOf(text, { minItems: 1 })),
  window,
  nonce: described('whether a signature must have a nonce', word(nonceModes)),
  tag: described('the value of the parameter tag', textOfForm(tagForm)),
  structuredFields: described(
    'types of structured fields that are not registered',
    mapOf(fieldName, word(fieldTypes)),
  ),
  signResponses: described(
    'signs responses',
    objectOf(
      { key: responseKey, components: arrayOf(text, { minItems: 1, contains: { const: '@status' } }) },
      ['key'],
    ),
  ),
};

const aws4: MembersOf<Aws4Declaration> = {
  region: described('the region of the scope', textOfForm(scopePartForm)),
  service: described('the service of the scope', textOfForm(scopePartForm)),
  window,
  normalizePath: described('whether the signed path is normalized', flag),
  doubleEncode: described('whether the signed path is percent-encoded twice', flag),
  unsignedPayload: described('whether UNSIGNED-PAYLOAD is accepted', flag),
  errors: described('the form of errors', word(errorForms)),
  replay: described('whether a signature is accepted more than once', word(aws4ReplayRules)),
};

const draftCavage: MembersOf<DraftCavageDeclaration> = {
  headers: described('fields that a signature must cover', arrayOf(text)),
  window,
  replay: described('whether a signature is accepted more than once', word(replayRules)),
};

const parameterName: JsonSchema = { type: 'string', pattern: '^[A-Za-z0-9_.~-]+$' };
const pointer: JsonSchema = { type: 'string', pattern: '^/' };

/** Returns the schema of an object with one place and further members. */
function placeOf(members: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return {
    oneOf: [
      objectOf({ field: fieldName, ...members }, ['field']),
      objectOf({ query: parameterName, ...members }, ['query']),
      objectOf({ json: pointer, ...members }, ['json']),
      objectOf({ form: text, ...members }, ['form']),
    ],
  };
}

const place = placeOf({});

const secretPlace: JsonSchema = {
  oneOf: [
    field,
    objectOf({ query: parameterName }, ['query']),
    objectOf({ cookie: fieldName }, ['cookie']),
    objectOf({ authorization: fieldName }, ['authorization']),
  ],
};

const apiKey: MembersOf<ApiKeyDeclaration> = {
  user: described('field with the name of the user or the id of a key, or the name of the only user', {
    anyOf: [text, field],
  }),
  secret: described('the place of the secret', secretPlace),
};

const user = described('the name of the user who signs, or its place', { anyOf: [text, place] });
const declaredWindow = described('seconds', {
  type: 'number',
  exclusiveMinimum: 0,
  maximum: longestDeclaredWindow,
});
const replay = described('whether a signature is accepted more than once', word(replayRules));

/** Returns the schemas of the presets. The members that can be set depend on the provider. */
function presetSchemas(): JsonSchema[] {
  const groups = new Map<string, { readonly names: string[]; readonly left: ReadonlySet<string> }>();
  for (const [name, preset] of Object.entries(presets)) {
    const left = fixedMembers(preset);
    const group = groups.get(left.join()) ?? { names: [], left: new Set(left) };
    group.names.push(name);
    groups.set(left.join(), group);
  }
  return Array.from(groups.values(), ({ names, left }) => presetSchema(names, left));
}

/** Returns the members that a provider determines. */
function fixedMembers({ declaration: { user: named, timestamp, nonce }, extras }: Preset): string[] {
  return [
    ...(named === undefined ? [] : ['user']),
    ...(timestamp === undefined || extras?.lifetime !== undefined ? ['timestamp'] : []),
    ...(nonce === undefined && timestamp !== undefined ? [] : ['replay']),
  ];
}

function presetSchema(names: readonly string[], left: ReadonlySet<string>): JsonSchema {
  const members: MembersOf<PresetDeclaration> = {
    preset: described('the provider', word(names)),
    user,
    timestamp: objectOf({ window: declaredWindow }),
    replay,
  };
  const own = Object.entries(members).filter(([name]) => !left.has(name));
  return objectOf(Object.fromEntries(own), left.has('user') ? ['preset'] : ['preset', 'user']);
}

/** A signature whose format contains the user. */
const withUserInFormat: JsonSchema = {
  required: ['format'],
  properties: { format: { pattern: '\\{(?:user|key-id)\\}' } },
};

const declared: MembersOf<HmacDeclaration> = {
  message: described('the signed message, with placeholders such as {timestamp} and {body}', text),
  algorithm: described('how a signature is made', word(algorithms)),
  hash: word(hashNames),
  encoding: described('the encoding of the signature', word(encodings)),
  dsaEncoding: described('the form of a signature of ECDSA', word(dsaEncodings)),
  key: described('how the secret is decoded', word(keyEncodings)),
  keyPrefix: described('text that is removed from the secret before it is decoded', text),
  signature: described(
    'the place of the signature, and its format',
    placeOf({ format: text, names: arrayOf(fieldName) }),
  ),
  separator: described('the text between several signatures', text),
  user,
  timestamp: {
    anyOf: [
      objectOf({ unit: word(timestampUnits), window: declaredWindow }),
      placeOf({ unit: word(timestampUnits), window: declaredWindow }),
    ],
  },
  nonce: place,
  id: field,
  passphrase: described('the field with the passphrase of the key', field),
  replay,
};

/** Returns an expression that matches words without regard to case. JSON Schema has no flags. */
function anyCase(words: readonly string[]): string {
  const letter = (each: string): string => `[${each.toLowerCase()}${each.toUpperCase()}]`;
  return words.map((each) => [...each].map(letter).join('')).join('|');
}

/** The schema of `schemes`. */
export const schemesSchema = described('authentication schemes by name', {
  ...mapOf(
    { pattern: schemeNameForm.source, not: { pattern: `^(?:${anyCase(builtInSchemes)})$` } },
    {
      anyOf: [
        objectOf(apiKey, ['secret']),
        ...presetSchemas(),
        objectOf(declared, ['message', 'signature'], {
          not: { required: ['nonce', 'replay'] },
          anyOf: [{ required: ['user'] }, { properties: { signature: withUserInFormat } }],
        }),
      ],
    },
  ),
  properties: {
    'message-signatures': described('HTTP Message Signatures (RFC 9421)', objectOf(messageSignatures)),
    aws4: described('AWS Signature Version 4', objectOf(aws4, ['region', 'service'])),
    'draft-cavage': described('draft-cavage-http-signatures-12', objectOf(draftCavage)),
  },
});
