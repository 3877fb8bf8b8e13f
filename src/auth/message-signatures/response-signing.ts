import { createPrivateKey, type KeyObject } from 'node:crypto';
import { didYouMean } from '../../did-you-mean.ts';
import {
  isKeyFor,
  isMessageAlgorithm,
  type MessageKey,
  messageAlgorithms,
} from '../../signature/message-signatures/algorithms.ts';
import { identifierFault, parseIdentifier } from '../../signature/message-signatures/identifiers.ts';
import type { Item } from '../../signature/structured-fields/value.ts';
import { readMembers, readText } from '../option-values.ts';

/** How responses are signed (RFC 9421). */
export interface ResponseSigningOptions {
  readonly key: MessageKey;
  /**
   * The components of a signature that every response has, such as `@status` or `@method;req`. Default: a response is signed
   * only if the request asks for it with Accept-Signature (RFC 9421 §5).
   */
  readonly components?: readonly string[] | undefined;
}

/**
 * Reads `signResponses` from a configuration: the key with `id`, `algorithm` and either `privateKey` (PEM) or `secret`, and
 * `components`.
 *
 * @param where The path of the value, for error messages: `signResponses`.
 * @throws RangeError if a key is unknown or a value is invalid. The message does not contain the private key or the secret.
 */
export function readResponseSigning(value: unknown, where: string): ResponseSigningOptions {
  const { key, components } = readMembers(value, where, ['key', 'components']);
  const read = keyOf(key, `${where}.key`);
  return components === undefined
    ? { key: read }
    : { key: read, components: componentsOf(components, `${where}.components`) };
}

/** The id of a key in the parameter `keyid`. */
export const keyIdForm = /^[ -~]+$/;

function keyOf(value: unknown, where: string): MessageKey {
  const members = readMembers(value, where, ['id', 'algorithm', 'privateKey', 'secret']);
  const id = readText(members['id'], `${where}.id`);
  if (!keyIdForm.test(id)) throw new RangeError(`${where}.id: printable ASCII characters are expected`);
  const algorithm = readText(members['algorithm'], `${where}.algorithm`);
  if (!isMessageAlgorithm(algorithm))
    throw new RangeError(
      `${where}.algorithm: there is no such algorithm${didYouMean(algorithm, messageAlgorithms)}`,
    );
  const [used, unused] = algorithm === 'hmac-sha256' ? ['secret', 'privateKey'] : ['privateKey', 'secret'];
  if (members[unused] !== undefined)
    throw new RangeError(`${where}.${unused}: a key for ${algorithm} has ${used} instead`);
  const material = readText(members[used], `${where}.${used}`);
  if (algorithm === 'hmac-sha256') return { id, algorithm, secret: material };
  const privateKey = privateKeyOf(material, `${where}.privateKey`);
  if (!isKeyFor(algorithm, privateKey))
    throw new RangeError(`${where}.privateKey: the key is not one for ${algorithm}`);
  return { id, algorithm, privateKey };
}

function privateKeyOf(pem: string, where: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new RangeError(`${where}: a private key in PEM format, without a passphrase, is expected`);
  }
}

function componentsOf(value: unknown, where: string): readonly string[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new RangeError(`${where}: a list with at least one component is expected`);
  if (!value.includes('@status')) throw new RangeError(`${where}: the component @status is required`);
  return value.map((component: unknown, index) => {
    const at = `${where}[${index}]`;
    const text = readText(component, at);
    const fault = identifierFault(identifierOf(text, at), 'response');
    if (fault !== undefined) throw new RangeError(`${at}: ${fault}`);
    return text;
  });
}

function identifierOf(text: string, where: string): Item {
  try {
    return parseIdentifier(text);
  } catch (error) {
    throw new RangeError(`${where}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
