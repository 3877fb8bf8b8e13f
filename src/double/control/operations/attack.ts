import type { AttackRequest } from '../../../attack/attempt.ts';
import { decodeCanonicalBase64 } from '../../../http/headers/content-digest.ts';
import { flag, listOf, number, object, optional, text, word } from '../../../shape/shape.ts';
import { invalid } from '../content.ts';
import { type Controlled, type Operation, operation } from '../operation.ts';
import { createControlSigner, signer } from './attack-signer.ts';

/** The operation that generates requests which a correct server refuses. The caller sends them. */
export function attackOperations(target: Controlled): readonly Operation[] {
  return [
    operation('POST', '/adversary', 'adversary', {
      returns: attemptsSchema,
      summary: 'Generates, from one valid request, forged requests that a correct server refuses',
      description:
        'The caller sends the requests. They are dated by this server’s clock at the time of the call. By default, secret, password and token are those of this server’s user, which requires a server in memory.',
      accepts: object({
        request: object({
          method: optional(text('default: GET')),
          url: text('absolute URL'),
          headers: optional(listOf(listOf(text()), 'pairs of name and value')),
          body: optional(text('content as text')),
          base64: optional(text('content as bytes, instead of body')),
        }),
        signer,
        window: optional(
          number({ min: 0 }, 'seconds by which the server accepts a date to differ; default: 600'),
        ),
        otherUser: optional(text('another user of the server')),
        open: optional(flag('whether the request is permitted without credentials')),
      }),
      async run({ request: { headers = [], base64, ...request }, signer: signing, ...options }) {
        const { createAttempts } = await import('../../../attack/create-attempts.ts');
        const body = base64 === undefined ? request.body : decodeBytes(base64);
        const good = {
          url: request.url,
          headers: headers.map(readPair),
          method: request.method,
          body,
        };
        const made = createAttempts(good, await createControlSigner(signing, target), {
          ...options,
          clock: target.clock,
        });
        return {
          attempts: made.map(({ requests, entityTagFrom, ...each }) => ({
            id: each.id,
            severity: each.severity,
            proves: each.proves,
            remedy: each.remedy,
            name: each.name,
            why: each.why,
            expected: each.expected,
            needs: each.needs,
            anotherConnection: each.anotherConnection,
            together: each.together,
            ...(entityTagFrom !== undefined && { entityTagFrom: toJson(entityTagFrom) }),
            requests: requests.map(toJson),
          })),
        };
      },
    }),
  ];
}

function readPair(pair: readonly string[]): readonly [string, string] {
  const [name, value] = pair;
  if (pair.length === 2 && name !== undefined && value !== undefined) return [name, value];
  throw invalid('request.headers', 'must contain pairs of name and value');
}

function decodeBytes(base64: string): Uint8Array {
  const bytes = decodeCanonicalBase64(base64);
  if (bytes === undefined) throw invalid('request.base64', 'is not canonical base64');
  return bytes;
}

/** Returns a request as JSON, with binary content in base64. */
function toJson({ body, ...request }: AttackRequest) {
  if (body === undefined) return request;
  return typeof body === 'string'
    ? { ...request, body }
    : { ...request, base64: Buffer.from(body).toString('base64') };
}

const requestShape = object({
  method: text(),
  url: text(),
  body: optional(text()),
  base64: optional(text()),
  headers: listOf(listOf(text()), 'field lines in the order to send; a name may occur twice'),
});

const attemptsSchema = object({
  attempts: listOf(
    object({
      id: text('the weakness of a server that accepts the request; several attempts can have the same'),
      severity: word(['high', 'medium', 'low'], 'how much an attacker gains by it'),
      proves: text('what it proves if the server accepts the request'),
      remedy: text('what the server must do'),
      name: text(),
      why: text(),
      requests: listOf(
        requestShape,
        'the requests in the order to send; the verdict is that of the last one',
      ),
      expected: listOf(number({}), 'the expected statuses of the last request'),
      needs: optional(word(['tls', 'plain'], 'the required transport; absent if there is none')),
      anotherConnection: flag('whether the last request requires a new connection'),
      together: flag(
        'whether the requests are sent at the same time, over a connection each; exactly one must be accepted',
      ),
      entityTagFrom: optional(requestShape),
    }),
  ),
});
