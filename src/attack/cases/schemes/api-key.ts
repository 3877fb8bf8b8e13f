import type { ApiKeyOptions } from '../../../auth/api-key/options.ts';
import { fieldIn } from '../../../signature/declared/places.ts';
import {
  type AttackRequest,
  type Attempt,
  appendLines,
  malformed,
  refused,
  removeLines,
  replaceLine,
} from '../../attempt.ts';
import { type Forger, toAttempts } from '../../forger.ts';

/** API keys of which a part is missing, repeated, or in another place. */
export function* apiKeyAttempts(forger: Forger, options: ApiKeyOptions): Generator<Attempt> {
  const [userField, secretField] = [fieldIn(options.user), fieldIn(options.secret)];
  // A key alone has no parts.
  if (userField === undefined || secretField === undefined) return;
  const good = forger.signGood();
  const { user = '', plain, otherUser } = forger;
  const secret = forger.credentials(good)?.[1] ?? '';
  const removeField = (field: string): AttackRequest => ({
    ...good,
    headers: removeLines(good.headers, field),
  });
  const query = `${userField}=${encodeURIComponent(user)}&${secretField}=${encodeURIComponent(secret)}`;
  const inQuery = { ...plain, url: `${plain.url}${plain.url.includes('?') ? '&' : '?'}${query}` };
  const both = 'Without both, nothing is proved.';
  const one = 'It is ambiguous which of two values counts.';
  yield* toAttempts(forger, 'repeated-field', [
    ['the secret is sent without a user', both, malformed, removeField(userField), 'no-credentials'],
    ['the user is sent without a secret', both, refused, removeField(secretField), 'no-credentials'],
    ['the user is empty', both, malformed, replaceLine(good, [userField, '']), 'no-credentials'],
    [
      'the user is also the secret',
      'The secret is wrong.',
      refused,
      replaceLine(good, [secretField, user]),
      'wrong-secret',
    ],
    [
      'a list of secrets contains the right one',
      one,
      malformed,
      replaceLine(good, [secretField, `${secret}, x`]),
    ],
    [
      'a list of secrets ends with the right one',
      one,
      malformed,
      replaceLine(good, [secretField, `x, ${secret}`]),
    ],
    ['the user occurs twice', one, malformed, appendLines(good, [userField, user])],
    [
      'another user follows the right one',
      one,
      malformed,
      appendLines(good, [userField, otherUser ?? `nobody-${forger.nonce()}`]),
    ],
    [
      'user and secret are sent in the query',
      'Logs and caches store the target, and the Referer field repeats it.',
      forger.open ? [] : refused,
      forger.open ? undefined : inQuery,
      'secret-in-query',
    ],
  ]);
}
