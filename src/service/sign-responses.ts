import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { didYouMean } from '../did-you-mean.ts';
import type { FieldLine } from '../http/fields.ts';
import type { Request, Response } from '../http/message.ts';
import {
  parseAcceptSignature,
  type RequestedSignature,
} from '../signature/message-signatures/accept-signature.ts';
import {
  isKeyFor,
  isMessageAlgorithm,
  type MessageKey,
  messageAlgorithms,
} from '../signature/message-signatures/algorithms.ts';
import { identifierFault, nameOf, parseIdentifier } from '../signature/message-signatures/identifiers.ts';
import { fieldSource, type RequestMessage } from '../signature/message-signatures/message.ts';
import { signResponse } from '../signature/message-signatures/response.ts';
import { contentDigestOf } from '../signature/message-signatures/sign.ts';
import type { Item } from '../signature/structured-fields/value.ts';

/** How responses are signed (RFC 9421). */
export interface ResponseSigningOptions {
  readonly key: MessageKey;
  /**
   * The components of a signature that every response has, such as `@status` or `@method;req`. Default: a response is signed
   * only if the request asks for it with Accept-Signature (RFC 9421 §5).
   */
  readonly components?: readonly string[] | undefined;
}

/** The time for which a signature is valid, if the client asks for `expires` (s). */
const lifetime = 300;

/**
 * Reads `signResponses` from a configuration: the key with `id`, `algorithm` and either `privateKey` (PEM) or `secret`, and
 * `components`.
 *
 * @param where The path of the value, for error messages: `signResponses`.
 * @throws RangeError if a key is unknown or a value is invalid. The message does not contain the private key or the secret.
 */
export function readResponseSigning(value: unknown, where: string): ResponseSigningOptions {
  const { key, components } = membersOf(value, ['key', 'components'], where);
  const read = keyOf(key, `${where}.key`);
  return components === undefined
    ? { key: read }
    : { key: read, components: componentsOf(components, `${where}.components`) };
}

function membersOf(
  value: unknown,
  known: readonly string[],
  where: string,
): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RangeError(`${where}: an object is expected`);
  const members: Readonly<Record<string, unknown>> = { ...value };
  for (const name of Object.keys(members))
    if (!known.includes(name))
      throw new RangeError(`${where}.${name}: there is no such option${didYouMean(name, known)}`);
  return members;
}

function textOf(value: unknown, where: string): string {
  if (typeof value !== 'string' || value === '') throw new RangeError(`${where}: a text is expected`);
  return value;
}

function keyOf(value: unknown, where: string): MessageKey {
  const members = membersOf(value, ['id', 'algorithm', 'privateKey', 'secret'], where);
  const id = textOf(members['id'], `${where}.id`);
  if (!/^[ -~]+$/.test(id)) throw new RangeError(`${where}.id: printable ASCII characters are expected`);
  const algorithm = textOf(members['algorithm'], `${where}.algorithm`);
  if (!isMessageAlgorithm(algorithm))
    throw new RangeError(
      `${where}.algorithm: there is no such algorithm${didYouMean(algorithm, messageAlgorithms)}`,
    );
  const [used, unused] = algorithm === 'hmac-sha256' ? ['secret', 'privateKey'] : ['privateKey', 'secret'];
  if (members[unused] !== undefined)
    throw new RangeError(`${where}.${unused}: a key for ${algorithm} has ${used} instead`);
  const material = textOf(members[used], `${where}.${used}`);
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
    const text = textOf(component, at);
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

/**
 * Creates a function that signs responses: with the labels and components that Accept-Signature of the request lists, and with
 * the configured components. Adds Content-Digest if a signature covers it, and Vary (RFC 9421 §5). A request for a signature that
 * cannot be made is ignored.
 */
export function createResponseSigner(
  { key, components }: ResponseSigningOptions,
  clock: Pick<Clock, 'now'>,
): (request: Request, response: Response) => Response {
  const always = components === undefined ? undefined : requestFor(components);
  return (request, response) => {
    const field = request.fields.get('accept-signature');
    const varying = withVary(response);
    const requested = field === undefined ? [] : parseAcceptSignature(field);
    const all = always === undefined ? requested : [labelledApart(always, requested), ...requested];
    return all.length === 0 ? varying : signed(request, varying, all, key, clock);
  };
}

function requestFor(components: readonly string[]): RequestedSignature {
  return {
    label: 'sig1',
    components: components.map(parseIdentifier),
    created: true,
    expires: false,
    nonce: undefined,
    alg: undefined,
    keyid: undefined,
    tag: undefined,
  };
}

/** Returns the request with a label that no other request has. */
function labelledApart(
  request: RequestedSignature,
  others: readonly RequestedSignature[],
): RequestedSignature {
  const labels = new Set(others.map(({ label }) => label));
  let number = 1;
  while (labels.has(`sig${number}`)) number += 1;
  return { ...request, label: `sig${number}` };
}

function signed(
  request: Request,
  response: Response,
  requested: readonly RequestedSignature[],
  key: MessageKey,
  clock: Pick<Clock, 'now'>,
): Response {
  const { method, target, fields: requestFields, connection } = request;
  const answered: RequestMessage = { method, target, secure: connection.secure, fields: requestFields };
  const lines = withDerivedLines(response, requested);
  const message = { status: response.status, fields: fieldSource(lines.signed), request: answered };
  const created = Math.floor(clock.now() / 1000);
  const fields = signResponse(message, requested, { key, created, expires: created + lifetime });
  if (fields === undefined) return response;
  return { ...response, fields: [...lines.sent, ...Object.entries(fields)] };
}

/** The lines of a response: those that are covered, and those of them that this function's caller sends. */
interface ResponseLines {
  readonly signed: readonly FieldLine[];
  readonly sent: readonly FieldLine[];
}

/** Adds Content-Digest, if it is covered, and Content-Length, which the listener sends. */
function withDerivedLines(response: Response, requested: readonly RequestedSignature[]): ResponseLines {
  const { fields, content, headOnly } = response;
  const isCovered = requested.some(({ components }) => components.some(isContentDigest));
  const hasDigest = fields.some(([name]) => name.toLowerCase() === 'content-digest');
  const bytes = Buffer.from(content ?? '');
  // The content of a response to HEAD is empty (RFC 9530, appendix B.2).
  const digest = contentDigestOf(headOnly === true ? Buffer.alloc(0) : bytes);
  const added: FieldLine[] = isCovered && !hasDigest ? [['Content-Digest', digest]] : [];
  const sent = [...fields, ...added];
  return { sent, signed: content === undefined ? sent : [...sent, ['Content-Length', String(bytes.length)]] };
}

function isContentDigest(identifier: Item): boolean {
  return nameOf(identifier) === 'content-digest' && !identifier.parameters.has('req');
}

/** Adds Accept-Signature to Vary, so that no cache returns a signature for another request. */
function withVary(response: Response): Response {
  const varies = response.fields.some(
    ([name, value]) => name.toLowerCase() === 'vary' && value.trim() === '*',
  );
  return varies ? response : { ...response, fields: [...response.fields, ['Vary', 'Accept-Signature']] };
}
