import { fieldIn } from '../../../schemes/declared/place.ts';
import {
  appendLines,
  type Case,
  group,
  malformed,
  refused,
  removeLines,
  replaceLine,
} from '../../attempt.ts';
import type { Forger } from '../../forger.ts';
import { appendParameters } from '../../target.ts';

/** API keys of which a part is missing, repeated, or in another place. */
export function* apiKeyCases(forger: Forger): Generator<Case> {
  const scheme = forger.signing?.scheme;
  if (scheme?.kind !== 'api-key') return;
  const { options } = scheme;
  const [userField, secretField] = [fieldIn(options.user), fieldIn(options.secret)];
  // A key alone has no parts.
  if (userField === undefined || secretField === undefined) return;
  const good = forger.signGood();
  const { user = '', plain, otherUser = `nobody-${forger.nonce()}` } = forger;
  const secret = forger.credentials(good)?.[1] ?? '';
  const without = (field: string) => ({ ...good, headers: removeLines(good.headers, field) });
  const query = `${userField}=${encodeURIComponent(user)}&${secretField}=${encodeURIComponent(secret)}`;
  const inQuery = { ...plain, url: appendParameters(plain.url, query) };
  const both = 'Without both, nothing is proved.';
  yield* group({ id: 'no-credentials', why: both, expected: malformed }, [
    ['the secret is sent without a user', without(userField)],
    ['the user is sent without a secret', without(secretField), { expected: refused }],
    ['the user is empty', replaceLine(good, [userField, ''])],
  ]);
  yield* group({ id: 'wrong-secret', why: 'The secret is wrong.', expected: refused }, [
    ['the user is also the secret', replaceLine(good, [secretField, user])],
  ]);
  const one = 'It is ambiguous which of two values counts.';
  yield* group({ id: 'repeated-field', why: one, expected: malformed }, [
    ['a list of secrets contains the right one', replaceLine(good, [secretField, `${secret}, x`])],
    ['a list of secrets ends with the right one', replaceLine(good, [secretField, `x, ${secret}`])],
    ['the user occurs twice', appendLines(good, [userField, user])],
    ['another user follows the right one', appendLines(good, [userField, otherUser])],
  ]);
  const stored = 'Logs and caches store the target, and the Referer field repeats it.';
  yield* group({ id: 'secret-in-query', why: stored, expected: refused }, [
    ['user and secret are sent in the query', forger.open ? undefined : inQuery],
  ]);
}
