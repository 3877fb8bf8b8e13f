import { createHash, timingSafeEqual } from 'node:crypto';
import { formatChallenge } from '../../http/headers/authorization.ts';
import type { Request } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import { andThen } from '../../maybe-promise.ts';
import { createKeyHolders, derivedOnce, isCurrent, type KeyHolder, userOf } from '../named-user.ts';
import type { Scheme, Verdict } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import type { AuthenticationTrace } from '../trace.ts';
import type { ApiKeyOptions } from './options.ts';

/** The longest secret, in bytes. */
const longestSecret = 1024;
/** Minimum number of secrets that a refusal compares: a user usually has at most two. */
const minSecrets = 2;

/**
 * Creates the scheme of an API key with a secret, which are sent in two fields, over TLS only. The SHA-256 digests of both secrets
 * are compared, so the time shows neither where nor in what length they differ, nor whether the user exists.
 */
export function createApiKeyScheme(name: string, options: ApiKeyOptions, context: SchemeContext): Scheme {
  const holders = createKeyHolders(context.accounts);
  const digestOf = derivedOnce(sha256);
  const decoy = sha256(Buffer.from('no one has this secret'));
  const challenge = formatChallenge(name, [['realm', context.realm]]);

  const isSecretOf = (holder: KeyHolder | undefined, given: Buffer): holder is KeyHolder => {
    const secrets = holder?.secrets ?? [];
    const now = context.clock.now();
    let good = false;
    for (let at = 0; at < Math.max(secrets.length, minSecrets); at += 1) {
      const secret = secrets[at];
      const isSame = timingSafeEqual(secret === undefined ? decoy : digestOf(secret.key), given);
      if (isSame && secret !== undefined && isCurrent(secret, now)) good = true;
    }
    return good;
  };

  const judge = (
    user: string,
    given: Buffer,
    holder: KeyHolder | undefined,
    authTrace: AuthenticationTrace | undefined,
  ): Verdict => {
    authTrace?.pass('parse');
    if (holder !== undefined) authTrace?.pass('user');
    if (isSecretOf(holder, given)) {
      authTrace?.pass('secret');
      return { outcome: 'good', principal: { name: holder.account.name, scheme: name } };
    }
    authTrace?.fail(holder === undefined ? 'user' : 'secret');
    const members = context.explain ? { check: 'secret' } : {};
    const problem = new Problem('credentials-refused', 'The user or the secret is wrong.', { members });
    return { outcome: 'bad', problem, claimed: user };
  };

  return {
    name,
    authorizationNames: [],
    // The field of the user alone is no credential: another scheme may use the same field.
    locations: [{ field: options.secret.field.toLowerCase() }],
    requestFields: [options.user.field.toLowerCase()],
    tlsOnly: true,
    authenticate(request, _rest, authTrace) {
      const user = userOf(options.user, request.fields);
      const secret = secretIn(request, options.secret.field.toLowerCase());
      if (user === undefined || secret === undefined) {
        const { field } = user === undefined ? options.user : options.secret;
        return { outcome: 'bad', problem: new Problem('malformed-credentials', faultOf(request, field)) };
      }
      const given = sha256(Buffer.from(secret, 'latin1'));
      return andThen(holders.find(user), (holder) => judge(user, given, holder, authTrace));
    },
    claimedUser: (_rest, { fields }) => userOf(options.user, fields),
    challenge: ({ secure }) => (secure ? challenge : undefined),
  };
}

/** Returns the secret as sent; undefined if it is absent, sent twice, or has no possible length. */
function secretIn({ fields }: Request, name: string): string | undefined {
  const [secret, another] = fields.lines(name);
  const isPossible = secret !== undefined && secret.length > 0 && secret.length <= longestSecret;
  return isPossible && another === undefined ? secret : undefined;
}

function faultOf({ fields }: Request, name: string): string {
  const count = fields.lines(name.toLowerCase()).length;
  if (count === 0) return `The field ${name} is missing.`;
  return count > 1 ? `The field ${name} was sent twice.` : `The value of ${name} is malformed.`;
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
