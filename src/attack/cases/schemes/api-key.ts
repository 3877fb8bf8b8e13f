import type { ApiKeyOptions } from '../../../auth/api-key/options.ts';
import { fieldIn } from '../../../signature/declared/places.ts';
import {
  type AttackRequest,
  type Attempt,
  adding,
  malformed,
  refused,
  replacing,
  without,
} from '../../attempt.ts';
import { attemptsOf, type Forger } from '../../forger.ts';

/** API keys of which a part is missing, repeated, or in another place. */
export function* apiKeyAttempts(forger: Forger, options: ApiKeyOptions): Generator<Attempt> {
  const [userField, secretField] = [fieldIn(options.user), fieldIn(options.secret)];
  // A key alone has no parts.
  if (userField === undefined || secretField === undefined) return;
  const good = forger.good();
  const { user = '', plain, otherUser } = forger;
  const secret = forger.credentials(good)?.[1] ?? '';
  const alone = (field: string): AttackRequest => ({ ...good, headers: without(good.headers, field) });
  const query = `${userField}=${encodeURIComponent(user)}&${secretField}=${encodeURIComponent(secret)}`;
  const inQuery = { ...plain, url: `${plain.url}${plain.url.includes('?') ? '&' : '?'}${query}` };
  const both = 'Without both, nothing is proved.';
  const one = 'It is ambiguous which of two values counts.';
  yield* attemptsOf(forger, [
    ['the secret is sent without a user', both, malformed, alone(userField)],
    ['the user is sent without a secret', both, refused, alone(secretField)],
    ['the user is empty', both, malformed, replacing(good, [userField, ''])],
    ['the user is also the secret', 'The secret is wrong.', refused, replacing(good, [secretField, user])],
    [
      'a list of secrets contains the right one',
      one,
      malformed,
      replacing(good, [secretField, `${secret}, x`]),
    ],
    [
      'a list of secrets ends with the right one',
      one,
      malformed,
      replacing(good, [secretField, `x, ${secret}`]),
    ],
    ['the user occurs twice', one, malformed, adding(good, [userField, user])],
    [
      'another user follows the right one',
      one,
      malformed,
      adding(good, [userField, otherUser ?? `nobody-${forger.nonce()}`]),
    ],
    [
      'user and secret are sent in the query',
      'Logs and caches store the target, and the Referer field repeats it.',
      forger.open ? [] : refused,
      forger.open ? undefined : inQuery,
    ],
  ]);
}
