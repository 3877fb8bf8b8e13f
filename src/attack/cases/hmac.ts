import { removeSpaces } from '../../signature/hmac.ts';
import {
  type AttackRequest,
  type Attempt,
  attempt,
  elsewhere,
  malformed,
  refused,
  replaceLine,
} from '../attempt.ts';
import { findCredentials } from '../credentials.ts';
import type { Forger } from '../forger.ts';

/** Credentials of the full form: scheme and user, nonce, digest. */
export const fullForm = /^(hmac [^:]+):([^:]+):([^:]+)$/i;

/**
 * Full signatures of the HMAC scheme, sent in the simple form, which does not expire. The parts of the message are joined
 * by `+`, so a signed date and nonce can be sent as another part of the message.
 */
export function* hmacAttempts(forger: Forger): Generator<Attempt> {
  const { plain, needs } = forger;
  const withQuery = { ...plain, url: `${plain.url}${plain.url.includes('?') ? '&' : '?'}z=1` };
  const [bare, longer, queried, digested] = [plain, plain, withQuery, plain].map((each) =>
    readSimple(forger, each),
  );
  if (bare === undefined || longer === undefined || queried === undefined || digested === undefined) return;
  const id = 'ambiguous-message';
  const name = 'a full digest is sent in the simple form';
  const why = 'Both messages are the same text, but the signature was for one use of another request.';
  const absent = 'The digest covers a date and a nonce, which are missing.';
  yield attempt({ id, name, why: absent, expected: refused, needs, requests: [bare.request] });
  yield attempt({
    id,
    name: `${name}, with date and nonce in the path or query`,
    why,
    expected: elsewhere,
    needs,
    requests: [moveToTarget(longer)],
  });
  yield attempt({
    id,
    name: `${name}, with date and nonce in an unknown parameter`,
    why,
    expected: refused,
    needs,
    requests: [moveToTarget(queried)],
  });
  yield attempt({
    id,
    name: `${name}, with date and nonce as Content-Digest`,
    why,
    expected: malformed,
    needs,
    requests: [replaceLine(digested.request, ['Content-Digest', digested.ending])],
  });
}

/** A full signature without its date and nonce, and the part of the message that contained these. */
interface Simple {
  readonly request: AttackRequest;
  readonly ending: string;
}

function readSimple(forger: Forger, original: AttackRequest): Simple | undefined {
  const signed = forger.signRequest({}, original);
  const [field, value] = (signed && findCredentials(signed)) ?? ['', ''];
  const date = signed && forger.dateLine(signed)?.[1];
  const [, user, nonce, digest] = fullForm.exec(value) ?? [];
  if (signed === undefined || date === undefined || nonce === undefined) return undefined;
  const request = replaceLine(forger.undated(signed), [field, `${user}:${digest}`]);
  return { request, ending: `${removeSpaces(date)}+${nonce}` };
}

function moveToTarget({ request, ending }: Simple): AttackRequest {
  return { ...request, url: `${request.url}+${ending}` };
}
