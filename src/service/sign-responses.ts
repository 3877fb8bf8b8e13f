import type { MessageKey } from '../algorithms.ts';
import type { Clock } from '../clock.ts';
import type { FieldLine } from '../http/fields.ts';
import { formatContentDigest } from '../http/headers/content-digest.ts';
import type { IncomingRequest, Response } from '../http/message.ts';
import type { Item } from '../http/structured-fields/value.ts';
import { parseAcceptSignature, type RequestedSignature } from '../schemes/rfc9421/accept-signature.ts';
import { parseIdentifier, readName } from '../schemes/rfc9421/identifiers.ts';
import { fieldSource, type RequestMessage } from '../schemes/rfc9421/message.ts';
import type { ResponseSigningOptions } from '../schemes/rfc9421/options.ts';
import { signResponse } from '../schemes/rfc9421/response.ts';

/** The time for which a signature is valid, if the client asks for `expires` (s). */
const lifetime = 300;

/**
 * Creates a function that signs responses: with the labels and components that Accept-Signature of the request lists, and with
 * the configured components. Adds Content-Digest if a signature covers it, and Vary (RFC 9421 §5). A request for a signature that
 * cannot be made is ignored.
 */
export function createResponseSigner(
  { key, components }: ResponseSigningOptions,
  clock: Pick<Clock, 'now'>,
): (request: IncomingRequest, response: Response) => Response {
  const always = components === undefined ? undefined : requestFor(components);
  return (request, response) => {
    const field = request.headers.get('accept-signature');
    const varying = addVary(response);
    const requested = field === undefined ? [] : parseAcceptSignature(field);
    const all = always === undefined ? requested : [relabelRequest(always, requested), ...requested];
    return all.length === 0 ? varying : signWithKey(request, varying, all, key, clock);
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
function relabelRequest(
  request: RequestedSignature,
  others: readonly RequestedSignature[],
): RequestedSignature {
  const labels = new Set(others.map(({ label }) => label));
  let number = 1;
  while (labels.has(`sig${number}`)) number += 1;
  return { ...request, label: `sig${number}` };
}

function signWithKey(
  request: IncomingRequest,
  response: Response,
  requested: readonly RequestedSignature[],
  key: MessageKey,
  clock: Pick<Clock, 'now'>,
): Response {
  const { method, target, headers: requestHeaders, connection } = request;
  const answered: RequestMessage = { method, target, secure: connection.secure, fields: requestHeaders };
  const lines = addDerivedLines(response, requested);
  const message = { status: response.status, fields: fieldSource(lines.signed), request: answered };
  const created = Math.floor(clock.now() / 1000);
  const fields = signResponse(message, requested, { key, created, expires: created + lifetime });
  if (fields === undefined) return response;
  return { ...response, headers: [...lines.sent, ...Object.entries(fields)] };
}

/** The lines of a response: those that are covered, and those of them that this function's caller sends. */
interface ResponseLines {
  readonly signed: readonly FieldLine[];
  readonly sent: readonly FieldLine[];
}

/** Adds Content-Digest, if it is covered, and Content-Length, which the listener sends. */
function addDerivedLines(response: Response, requested: readonly RequestedSignature[]): ResponseLines {
  const { headers: fields, body: content, headOnly } = response;
  const isCovered = requested.some(({ components }) => components.some(isContentDigest));
  const hasDigest = fields.some(([name]) => name.toLowerCase() === 'content-digest');
  const bytes = Buffer.from(content ?? '');
  // The content of a response to HEAD is empty (RFC 9530, appendix B.2).
  const digest = formatContentDigest(headOnly === true ? Buffer.alloc(0) : bytes);
  const added: FieldLine[] = isCovered && !hasDigest ? [['Content-Digest', digest]] : [];
  const sent = [...fields, ...added];
  return { sent, signed: content === undefined ? sent : [...sent, ['Content-Length', String(bytes.length)]] };
}

function isContentDigest(identifier: Item): boolean {
  return readName(identifier) === 'content-digest' && !identifier.parameters.has('req');
}

/** Adds Accept-Signature to Vary, so that no cache returns a signature for another request. */
function addVary(response: Response): Response {
  const varies = response.headers.some(
    ([name, value]) => name.toLowerCase() === 'vary' && value.trim() === '*',
  );
  return varies ? response : { ...response, headers: [...response.headers, ['Vary', 'Accept-Signature']] };
}
