import { withoutSpaces } from '../../signature/hmac.ts';
import {
  type Attempt,
  attempt,
  elsewhere,
  malformed,
  type OutgoingRequest,
  refused,
  replacing,
} from '../attempt.ts';
import { credentialsOf, dateLineOf, type Forger, undated } from '../forger.ts';

const fullForm = /^(hmac +[^:]+):([^:]+):([^:]+)$/i;

/**
 * Full signatures of the HMAC scheme, passed off as simple ones, which are good for ever. The parts of the message are
 * joined by `+`, so what was signed as date and nonce can be sent as a part of something else.
 */
export function* hmacAttempts(forge: Forger): Generator<Attempt> {
  const { plain, needs } = forge;
  const withQuery = { ...plain, url: `${plain.url}${plain.url.includes('?') ? '&' : '?'}z=1` };
  const [bare, longer, queried, digested] = [plain, plain, withQuery, plain].map((each) =>
    simpleOf(forge, each),
  );
  if (bare === undefined || longer === undefined || queried === undefined || digested === undefined) return;
  const name = 'a full digest is sent in the simple form';
  const why = 'The two messages are the same text, but the signature was for once, and for another request.';
  const absent = 'It signs a date and a nonce, which are not there.';
  yield attempt({ name, why: absent, expected: refused, needs, requests: [bare.request] });
  yield attempt({
    name: `${name}, with date and nonce in the path or query`,
    why,
    expected: elsewhere,
    needs,
    requests: [inTarget(longer)],
  });
  yield attempt({
    name: `${name}, with date and nonce in a parameter that means nothing`,
    why,
    expected: refused,
    needs,
    requests: [inTarget(queried)],
  });
  yield attempt({
    name: `${name}, with date and nonce for a Content-Digest`,
    why,
    expected: malformed,
    needs,
    requests: [replacing(digested.request, ['Content-Digest', digested.ending])],
  });
}

/** A full signature without its date and nonce, and what they were in the message. */
interface Simple {
  readonly request: OutgoingRequest;
  readonly ending: string;
}

function simpleOf(forge: Forger, original: OutgoingRequest): Simple | undefined {
  const signed = forge.signed({}, original);
  const [field, value] = (signed && credentialsOf(signed)) ?? ['', ''];
  const date = signed && dateLineOf(signed)?.[1];
  const [, user, nonce, digest] = fullForm.exec(value) ?? [];
  if (signed === undefined || date === undefined || nonce === undefined) return undefined;
  const request = replacing(undated(signed), [field, `${user}:${digest}`]);
  return { request, ending: `${withoutSpaces(date)}+${nonce}` };
}

function inTarget({ request, ending }: Simple): OutgoingRequest {
  return { ...request, url: `${request.url}+${ending}` };
}
