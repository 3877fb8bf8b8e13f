import { mapOf, object, optional, text } from '../../../shape/shape.ts';
import { type Operation, operation } from '../operation.ts';
import { type ControlTarget, requireMemory } from '../target.ts';

const accepted = object({
  user: text(),
  scheme: optional(text('hmac, basic, bearer, oauth1, or a scheme of the configuration; default: hmac')),
  method: text(),
  url: text('a path with its query, or an absolute URL'),
  headers: optional(mapOf(text('the fields that the request has already, some of which a scheme may sign'))),
  body: optional(text()),
  keyId: optional(text('for schemes of the configuration: the id of the user’s key')),
  nonce: optional(text('for schemes with a nonce; default: a new one')),
  date: optional(text('for schemes with a date: an ISO 8601 date; default: the time of the server’s clock')),
  client: optional(text('for bearer and oauth1: the client’s id or the consumer’s key; default: the first')),
});

/** The operation that signs a request as a user. */
export function signOperations(target: ControlTarget): readonly Operation[] {
  return [
    operation({
      method: 'POST',
      path: '/sign',
      id: 'sign',
      memoryOnly: true,
      summary: 'Returns the header fields that sign a request as a user, and the URL to send it to',
      description:
        'The URL contains the signature if the scheme has it in the query. With bearer and oauth1, a token is issued.',
      returns: object({ headers: mapOf(text()), url: text() }).schema,
      accepts: accepted,
      async run({ user, method, url, body, headers, ...options }) {
        requireMemory(target);
        const { scheme = 'hmac', ...others } = options;
        const signed = await target.as(user, { ...others, scheme }).signUrl({
          method,
          url,
          ...(headers !== undefined && { headers }),
          ...(body !== undefined && { body }),
        });
        return { headers: signed.headers, url: signed.url };
      },
    }),
  ];
}
