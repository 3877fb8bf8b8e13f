import type { OutgoingRequest } from '../../../attack/attempt.ts';
import type { RequestSigner } from '../../../attack/signers.ts';
import { decodeCanonicalBase64 } from '../../../http/headers/content-digest.ts';
import { type Operation, operation } from '../operation.ts';
import { flag, invalid, listOf, number, object, optional, text, word } from '../shape.ts';
import { type ControlTarget, inMemory } from '../target.ts';

/** The operation that makes requests which a correct server refuses; the caller sends them. */
export function adversaryOperations(target: ControlTarget): readonly Operation[] {
  return [
    operation({
      ...{ method: 'POST', path: '/adversary', id: 'adversary', gives: attemptsSchema },
      summary: 'Makes of one good request those that a correct server refuses, to be sent by the caller',
      description:
        'They are dated when this is called, by the clock of this server. Secret, password and token are those of its own user when they are left out, which needs memory.',
      takes: object({
        request: object({
          method: optional(text('GET when left out')),
          url: text('absolute'),
          headers: optional(listOf(listOf(text()), 'pairs of name and value')),
          ...{ body: optional(text('as text')), base64: optional(text('as bytes, in the place of body')) },
        }),
        signer,
        window: optional(
          number({ least: 0 }, 'seconds that the server lets a date be off; 600 when left out'),
        ),
        otherUser: optional(text('another user that the server knows')),
        open: optional(flag('that strangers may send the request, too')),
      }),
      async answer({ request: { headers = [], base64, ...request }, signer: wanted, ...options }) {
        const { adversary } = await import('../../../attack/adversary.ts');
        const body = base64 === undefined ? request.body : bytesOf(base64);
        const good = {
          ...{ url: request.url, headers: headers.map(pairOf) },
          ...(request.method !== undefined && { method: request.method }),
          ...(body !== undefined && { body }),
        };
        const made = adversary(good, await signerOf(wanted, target), { ...options, clock: target.clock });
        return {
          attempts: made.map(({ name, why, expected, needs, anotherConnection, requests }) => ({
            ...{ name, why, expected, needs, anotherConnection },
            requests: requests.map(shown),
          })),
        };
      },
    }),
  ];
}

const signer = object({
  scheme: word(['hmac', 'basic', 'bearer', 'oauth1']),
  user: optional(text('of hmac and basic')),
  secret: optional(text('of hmac and basic: secret or password; of oauth1 that of the consumer')),
  form: optional(word(['full', 'simple'], 'of hmac')),
  dateField: optional(word(['Date', 'X-Date'], 'of hmac')),
  bodyDigest: optional(flag('of hmac: whether the content is signed')),
  ...{ consumer: optional(text('of oauth1')), token: optional(text('of bearer and oauth1')) },
  tokenSecret: optional(text('of oauth1')),
});

type Wanted = ReturnType<typeof signer.read>;

async function signerOf(wanted: Wanted, target: ControlTarget): Promise<RequestSigner> {
  const { basicSigner, bearerSigner, hmacSigner, oauth1Signer } = await import('../../../attack/signers.ts');
  const given = (name: 'user' | 'consumer' | 'token' | 'tokenSecret' | 'secret'): string =>
    wanted[name] ?? missing(`signer.${name}`);
  if (wanted.scheme === 'bearer') return bearerSigner({ token: given('token') });
  if (wanted.scheme === 'oauth1') {
    const consumer = { key: given('consumer'), secret: given('secret') };
    return oauth1Signer({ consumer, token: { token: given('token'), tokenSecret: given('tokenSecret') } });
  }
  const user = given('user');
  const own = () => {
    inMemory(target);
    return target.auth.credentials(user);
  };
  if (wanted.scheme === 'basic')
    return basicSigner({ user, password: wanted.secret ?? own().password ?? missing('signer.secret') });
  const { form, dateField, bodyDigest } = wanted;
  return hmacSigner({
    ...{ user, secret: wanted.secret ?? own().secret },
    ...(form !== undefined && { form }),
    ...(dateField !== undefined && { dateField }),
    ...(bodyDigest !== undefined && { bodyDigest }),
  });
}

function missing(field: string): never {
  throw invalid(field, 'is missing');
}

function pairOf(pair: readonly string[]): readonly [string, string] {
  const [name, value] = pair;
  if (pair.length === 2 && name !== undefined && value !== undefined) return [name, value];
  throw invalid('request.headers', 'must be pairs of name and value');
}

function bytesOf(base64: string): Uint8Array {
  const bytes = decodeCanonicalBase64(base64);
  if (bytes === undefined) throw invalid('request.base64', 'is not canonical base64');
  return bytes;
}

/** A request as JSON has it. */
function shown({ body, ...request }: OutgoingRequest) {
  if (body === undefined) return request;
  return typeof body === 'string'
    ? { ...request, body }
    : { ...request, base64: Buffer.from(body).toString('base64') };
}

const sent = object({
  ...{ method: text(), url: text(), body: optional(text()), base64: optional(text()) },
  headers: listOf(listOf(text()), 'lines in the order to send; a name may stand there twice'),
});

const attemptsSchema = object({
  attempts: listOf(
    object({
      ...{ name: text(), why: text() },
      requests: listOf(sent, 'to be sent one after the other; only the last one is judged'),
      expected: listOf(number({}), 'the statuses that are right for it'),
      needs: optional(word(['tls', 'plain'], 'the transport; left out where either will do')),
      anotherConnection: flag('whether the last one goes over another connection'),
    }),
  ),
}).schema;
