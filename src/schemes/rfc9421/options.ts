import { createPrivateKey, type KeyObject } from 'node:crypto';
import {
  isMessageAlgorithm,
  isMessageKey,
  type MessageKey,
  messageAlgorithms,
  signatureAlgorithms,
} from '../../algorithms.ts';
import { didYouMean } from '../../did-you-mean.ts';
import type { Item } from '../../http/structured-fields/value.ts';
import { isToken } from '../../http/syntax/token.ts';
import type { ShapeFault, ShapePath } from '../../shape/fault.ts';
import {
  grammar,
  type JsonSchema,
  mapOf,
  membersOf,
  object,
  optional,
  read,
  type Shape,
  type ShapesOf,
  text,
  word,
} from '../../shape/shape.ts';
import type { MessageSignaturesDeclaration, ResponseSigningDeclaration } from '../scheme-declarations.ts';
import { type Complete, fieldNameShape, filledText, windowShape } from '../scheme-shapes.ts';
import {
  derivedComponents,
  identifierFault,
  identifierKey,
  type MessageKind,
  parseIdentifier,
} from './identifiers.ts';
import { defaultComponents } from './sign.ts';

/** How responses are signed (RFC 9421). */
export interface ResponseSigningOptions {
  readonly key: MessageKey;
  /**
   * The components of a signature that every response has, such as `@status` or `@method;req`. Default: a response is signed
   * only if the request asks for it with Accept-Signature (RFC 9421 §5).
   */
  readonly components?: readonly string[] | undefined;
}

const keyIdForm = /^[ -~]+$/;

/** Returns the schema of a key whose material is in one member. */
function describeKey(algorithms: readonly string[], material: string, description?: string): JsonSchema {
  return {
    type: 'object',
    properties: {
      id: { type: 'string', pattern: keyIdForm.source },
      algorithm: { enum: algorithms },
      [material]: { type: 'string', minLength: 1, ...(description !== undefined && { description }) },
    },
    additionalProperties: false,
    required: ['id', 'algorithm', material],
  };
}

/**
 * Describes `signResponses`: the key with `id`, `algorithm` and either `privateKey` (PEM) or `secret`, and `components`. Messages
 * do not contain the private key or the secret.
 */
export const responseSigningShape: Shape<ResponseSigningOptions> = object(
  {
    key: grammar(
      {
        oneOf: [
          describeKey(['hmac-sha256'], 'secret'),
          describeKey(signatureAlgorithms, 'privateKey', 'PEM, without a passphrase'),
        ],
      },
      'an object',
      readKey,
    ),
    components: optional(
      grammar(
        {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          minItems: 1,
          contains: { const: '@status' },
        },
        'a list of components',
        readResponseComponents,
      ),
    ),
  } satisfies ShapesOf<ResponseSigningDeclaration>,
  'signs responses',
);

function readKey(value: unknown, where: string): MessageKey {
  const members = read(membersOf(['id', 'algorithm', 'privateKey', 'secret']), value, [where]);
  const id = read(filledText, members['id'], [`${where}.id`]);
  if (!keyIdForm.test(id)) throw new RangeError(`${where}.id must be printable ASCII characters`);
  const algorithm = read(filledText, members['algorithm'], [`${where}.algorithm`]);
  if (!isMessageAlgorithm(algorithm))
    throw new RangeError(
      `${where}.algorithm: there is no such algorithm${didYouMean(algorithm, messageAlgorithms)}`,
    );
  const [used, unused] = algorithm === 'hmac-sha256' ? ['secret', 'privateKey'] : ['privateKey', 'secret'];
  if (members[unused] !== undefined)
    throw new RangeError(`${where}.${unused}: a key for ${algorithm} has ${used} instead`);
  const material = read(filledText, members[used], [`${where}.${used}`]);
  if (algorithm === 'hmac-sha256') return { id, algorithm, secret: material };
  const privateKey = readPrivateKey(material, `${where}.privateKey`);
  if (!isMessageKey(algorithm, privateKey))
    throw new RangeError(`${where}.privateKey: the key is not one for ${algorithm}`);
  return { id, algorithm, privateKey };
}

function readPrivateKey(pem: string, where: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new RangeError(`${where} must be a private key in PEM format, without a passphrase`);
  }
}

function readResponseComponents(value: unknown, where: string): readonly string[] {
  const components = readComponents(value, where, 'response');
  if (!components.includes('@status')) throw new RangeError(`${where}: the component @status is required`);
  return components;
}

/** The options of the scheme for HTTP Message Signatures (RFC 9421), with their defaults. */
export interface MessageSignaturesOptions
  extends Complete<Pick<MessageSignaturesDeclaration, 'components' | 'nonce' | 'structuredFields'>>,
    Pick<MessageSignaturesDeclaration, 'tag'> {
  /** Maximum difference between `created` and the clock, in either direction (s). Default: 300. */
  readonly window: number;
  /** How responses are signed. Default: not at all. */
  readonly signResponses: ResponseSigningOptions | undefined;
}

/** Describes the declaration of the scheme. */
export const messageSignaturesMembers = {
  components: optional(
    grammar(
      {
        description: 'components that a signature must cover',
        type: 'array',
        items: { type: 'string', minLength: 1 },
        minItems: 1,
      },
      'a list of components',
      (value, where) => readComponents(value, where, 'request'),
    ),
  ),
  window: optional(windowShape),
  nonce: optional(word(['off', 'optional', 'required'], 'whether a signature must have a nonce')),
  tag: optional(
    text('the value of the parameter tag', {
      form: /^[ -~]+$/,
      expected: 'a text of printable ASCII characters',
    }),
  ),
  structuredFields: optional(
    mapOf(word(['item', 'list', 'dictionary']), 'types of structured fields that are not registered', {
      names: fieldNameShape.schema,
      checkName: checkFieldName,
    }),
  ),
  signResponses: optional(responseSigningShape),
} satisfies ShapesOf<MessageSignaturesDeclaration>;

export const messageSignaturesShape = object(messageSignaturesMembers);

/**
 * Reads the options of the scheme from a configuration.
 *
 * @param where The path of the value, for error messages: `schemes.message-signatures`.
 * @throws RangeError if a key is unknown or a value is invalid
 */
export function readMessageSignaturesOptions(value: unknown, where: string): MessageSignaturesOptions {
  const declared = read(messageSignaturesShape, value, [where]);
  const { components = defaultComponents, window = 300, nonce = 'optional', tag, signResponses } = declared;
  const { structuredFields = {} } = declared;
  const types = Object.entries(structuredFields).map(([name, type]) => [name.toLowerCase(), type]);
  return { components, window, nonce, tag, structuredFields: Object.fromEntries(types), signResponses };
}

function checkFieldName(name: string, path: ShapePath): readonly ShapeFault[] {
  if (isToken(name)) return [];
  const says = (what: string): string => `${what}: ${JSON.stringify(name)} is not the name of a field`;
  return [{ path: path.slice(0, -1), kind: 'rule', says }];
}

/**
 * Reads a list of components of such a message, none of which may be listed twice.
 * @throws RangeError if one is malformed or invalid, with the nearest known name
 */
function readComponents(value: unknown, where: string, kind: MessageKind): readonly string[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new RangeError(`${where} must be a list with at least one component`);
  const keys = new Set<string>();
  return value.map((component: unknown, index) => {
    const at = `${where}[${index}]`;
    if (typeof component !== 'string') throw new RangeError(`${at} must be a component such as "@method"`);
    const key = identifierKey(readIdentifier(component, at, kind));
    if (keys.has(key)) throw new RangeError(`${at}: the component ${key} is listed twice`);
    keys.add(key);
    return component;
  });
}

function readIdentifier(component: string, where: string, kind: MessageKind): Item {
  let identifier: Item;
  try {
    identifier = parseIdentifier(component);
  } catch (error) {
    throw new RangeError(`${where}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const fault = identifierFault(identifier, kind);
  if (fault === undefined) return identifier;
  const hint = fault.endsWith('is not known') ? didYouMean(component, derivedComponents) : '';
  throw new RangeError(`${where}: ${fault}${hint}`);
}
