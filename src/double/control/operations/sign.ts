import type { Signer } from '../../fetch/signed-client.ts';
import { type Operation, operation } from '../operation.ts';
import { mapOf, object, optional, text, word } from '../shape.ts';
import { type ControlTarget, inMemory } from '../target.ts';

const accepted = object({
  user: text(),
  scheme: optional(word(['hmac', 'basic', 'bearer', 'oauth1'], 'default: hmac')),
  method: text(),
  target: text('a path with its query, or an absolute URL'),
  content: optional(text()),
  nonce: optional(text('for hmac and oauth1; default: a new one')),
  date: optional(text('for hmac and oauth1: an ISO 8601 date; default: the time of the server’s clock')),
  client: optional(text('for bearer and oauth1: the client’s id or the consumer’s key; default: the first')),
});

/** The operation that signs a request as a user. */
export function signOperations(target: ControlTarget): readonly Operation[] {
  return [
    operation({
      ...{ method: 'POST', path: '/sign', id: 'sign', memoryOnly: true },
      summary: 'Returns the header fields that sign a request as a user',
      description: 'With bearer and oauth1, a token is issued.',
      returns: object({ fields: mapOf(text()) }).schema,
      accepts: accepted,
      async run({ method, target: url, content, ...choice }) {
        inMemory(target);
        return { fields: await signerOf(target, choice).sign(method, url, content) };
      },
    }),
  ];
}

type Choice = Pick<ReturnType<typeof accepted.read>, 'user' | 'scheme' | 'nonce' | 'date' | 'client'>;

function signerOf(target: ControlTarget, { user, scheme, nonce, date, client }: Choice): Signer {
  const moment = { ...(nonce !== undefined && { nonce }), ...(date !== undefined && { date }) };
  const holder = client === undefined ? {} : { client };
  switch (scheme) {
    case 'basic':
      return target.as(user, { scheme });
    case 'bearer':
      return target.as(user, { scheme, ...holder });
    case 'oauth1':
      return target.as(user, { scheme, ...holder, ...moment });
    default:
      return target.as(user, moment);
  }
}
