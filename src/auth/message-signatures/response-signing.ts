import { createPrivateKey, type KeyObject } from 'node:crypto';
import { didYouMean } from '../../did-you-mean.ts';
import type { Item } from '../../http/structured-fields/value.ts';
import {
  grammar,
  type JsonSchema,
  membersOf,
  object,
  optional,
  read,
  type Shape,
  type ShapesOf,
} from '../../shape/shape.ts';
import {
  isMessageAlgorithm,
  isMessageKey,
  type MessageKey,
  messageAlgorithms,
  signatureAlgorithms,
} from '../../signature/algorithms.ts';
import { identifierFault, parseIdentifier } from '../../signature/message-signatures/identifiers.ts';
import type { ResponseSigningDeclaration } from '../scheme-declarations.ts';
import { filledText } from '../scheme-shapes.ts';

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
        readComponents,
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

function readComponents(value: unknown, where: string): readonly string[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new RangeError(`${where} must be a list with at least one component`);
  if (!value.includes('@status')) throw new RangeError(`${where}: the component @status is required`);
  return value.map((component: unknown, index) => {
    const at = `${where}[${index}]`;
    const text = read(filledText, component, [at]);
    const fault = identifierFault(readIdentifier(text, at), 'response');
    if (fault !== undefined) throw new RangeError(`${at}: ${fault}`);
    return text;
  });
}

function readIdentifier(text: string, where: string): Item {
  try {
    return parseIdentifier(text);
  } catch (error) {
    throw new RangeError(`${where}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
