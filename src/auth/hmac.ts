import type { Clock } from '../clock.ts';
import { formatChallenge } from '../http/authorization.ts';
import { parseSignedDate } from '../http/date.ts';
import type { Request } from '../http/message.ts';
import { isMethod, isSafe } from '../http/method.ts';
import { Problem, type ProblemMember } from '../http/problem.ts';
import type { ProblemType } from '../http/problem-types.ts';
import {
  digestOf,
  endsLikeFullForm,
  type HmacCredentials,
  keyOf,
  messageOf,
  parseHmacCredentials,
  type Signed,
  sameDigest,
} from '../signature/hmac.ts';
import type { Account, Accounts } from './accounts.ts';
import { explainDigest } from './hmac-explanation.ts';
import type { Scheme, Verdict } from './scheme.ts';

/** Where nonces are remembered. */
export interface Nonces {
  /**
   * Takes the user's nonce in one step, unless it was taken before; it is kept until `until` (ms) has passed.
   * `full` takes nothing.
   */
  claim(user: string, nonce: string, until: number, now: number): 'fresh' | 'seen' | 'full';
}

/** What the scheme goes by. */
export interface HmacOptions {
  readonly realm: string;
  readonly accounts: Accounts;
  readonly nonces: Nonces;
  readonly clock: Clock;
  /** How far a date may be from the clock, either way, in ms; on the edge it is good. */
  readonly window: number;
  /** Which requests the simple form may sign. */
  readonly simple: 'safe' | 'all' | 'off';
  /** Whether content must come with a digest that is signed. */
  readonly requireBodyDigest: boolean;
  /** Whether a refusal shows what was checked. */
  readonly explain: boolean;
}

/** What a request signs, and with which credentials. */
interface Presented {
  readonly credentials: HmacCredentials;
  readonly signed: Signed;
  /** The time that the date says (ms); undefined in the simple form. */
  readonly time: number | undefined;
}

/**
 * HMAC-SHA256 over the method, the target as sent, and in the full form a date and a nonce. Checked in this order:
 * grammar, user, digest, date, nonce, so that only who holds the secret learns what is wrong after the digest.
 */
export function createHmacScheme(options: HmacOptions): Scheme {
  // Signed with by nobody: an unknown user costs the same computation as a known one.
  const dummy: Account = {
    name: '',
    secrets: [{ key: keyOf('no one has this secret') }],
    password: undefined,
  };

  return {
    name: 'hmac',
    async authenticate(request, rest) {
      const presented = present(request, rest, options);
      if (presented instanceof Problem) return { outcome: 'bad', problem: presented };
      const account = await options.accounts.find(presented.credentials.user);
      return judge(presented, account, account ?? dummy, options);
    },
    challenge: () =>
      formatChallenge('hmac', [
        ['realm', options.realm],
        ['algorithm', 'SHA-256'],
      ]),
  };
}

/** The grammar: what is presented, or the Problem with it. */
function present(request: Request, rest: string, options: HmacOptions): Presented | Problem {
  const credentials = parseHmacCredentials(rest);
  if (typeof credentials === 'string') return new Problem('malformed-credentials', `${credentials}.`);
  const { fields, method, target } = request;
  const contentDigest = fields.get('content-digest') ?? fields.get('content-md5');
  if (options.requireBodyDigest && contentDigest === undefined && carriesContent(request)) {
    return new Problem('digest-required', 'The content has no Content-Digest that the signature covers.');
  }
  const { nonce } = credentials;
  if (nonce === undefined) {
    const problem = simpleFormFault(method, target, options.simple);
    return problem ?? { credentials, signed: { method, target, contentDigest }, time: undefined };
  }
  const date = fields.get('x-date') ?? fields.get('date');
  if (date === undefined) return new Problem('date-missing', 'The full form needs a Date, or an X-Date.');
  const time = parseSignedDate(date);
  if (time === undefined) {
    return new Problem(
      'malformed-credentials',
      'The date is neither like "20 apr 2013 12:59:24" nor an IMF-fixdate.',
    );
  }
  return { credentials, signed: { method, target, date, nonce, contentDigest }, time };
}

function carriesContent({ body, fields }: Request): boolean {
  return body.present && fields.get('content-length') !== '0';
}

function simpleFormFault(
  method: string,
  target: string,
  allowed: HmacOptions['simple'],
): Problem | undefined {
  if (allowed === 'off') return new Problem('simple-form-refused', 'The simple form is switched off.');
  if (allowed === 'safe' && !(isMethod(method) && isSafe(method))) {
    return new Problem(
      'simple-form-refused',
      `The simple form does not sign ${method}: it could be sent again.`,
    );
  }
  if (endsLikeFullForm(target)) {
    return new Problem('simple-form-refused', 'The target ends like a date and a nonce of the full form.');
  }
  return undefined;
}

/** Digest, date and nonce, in this order and in one turn. */
function judge(
  presented: Presented,
  account: Account | undefined,
  signer: Account,
  options: HmacOptions,
): Verdict {
  const { credentials, signed, time } = presented;
  const now = options.clock.now();
  const message = messageOf(signed);
  const good = isSignedBy(signer, message, credentials.digest, now);
  if (!good || account === undefined) {
    const explained = options.explain ? explain(presented, message, account) : {};
    return refuse(presented, 'credentials-refused', 'User, secret or signed message do not fit.', explained);
  }
  if (time !== undefined && credentials.nonce !== undefined) {
    const fault = judgeFreshness(presented, time, credentials.nonce, message, now, options);
    if (fault !== undefined) return fault;
  }
  return { outcome: 'good', principal: { name: account.name, scheme: 'hmac' } };
}

function isSignedBy(signer: Account, message: string, digest: string, now: number): boolean {
  let good = false;
  for (const { key, until } of signer.secrets) {
    const same = sameDigest(digestOf(key, message), digest);
    if (same && (until === undefined || now < until)) good = true;
  }
  return good;
}

function judgeFreshness(
  presented: Presented,
  time: number,
  nonce: string,
  message: string,
  now: number,
  options: HmacOptions,
): Verdict | undefined {
  const { window, explain: explaining } = options;
  // To the second, like the dates themselves: the fraction of the clock's second does not count.
  const off = time - Math.floor(now / 1000) * 1000;
  if (Math.abs(off) > window) {
    const detail = `The date is ${Math.abs(off) / 1000} s ${off < 0 ? 'behind' : 'ahead of'} the server's clock; ${window / 1000} s are allowed.`;
    return refuse(presented, 'date-out-of-window', detail, explaining ? { check: 'date', message } : {});
  }
  // The last moment at which this date is still inside the window, to the end of its second.
  const claimed = options.nonces.claim(presented.credentials.user, nonce, time + window + 999, now);
  if (claimed === 'fresh') return undefined;
  if (claimed === 'seen') {
    const detail = 'This user has sent this nonce before.';
    return refuse(presented, 'nonce-replayed', detail, explaining ? { check: 'nonce', message } : {});
  }
  const problem = new Problem('full', 'No more nonces can be remembered now.', {
    fields: [['Retry-After', String(Math.ceil(window / 1000))]],
  });
  return { outcome: 'bad', problem, claimed: presented.credentials.user };
}

function refuse(
  { credentials }: Presented,
  type: ProblemType,
  detail: string,
  members: Readonly<Record<string, ProblemMember>>,
): Verdict {
  return { outcome: 'bad', problem: new Problem(type, detail, { members }), claimed: credentials.user };
}

function explain(
  presented: Presented,
  message: string,
  account: Account | undefined,
): Record<string, ProblemMember> {
  if (account === undefined) return { check: 'user', message };
  const { credentials, signed } = presented;
  return { check: 'digest', message, ...explainDigest(signed, credentials.digest, account.secrets) };
}
