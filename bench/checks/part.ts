/**
 * Measures the authentication of valid requests with one scheme; each order runs one round. The requests are signed
 * beforehand.
 */
import { randomBytes } from 'node:crypto';
import { signRequest } from '../../src/client/sign.ts';
import { systemClock } from '../../src/clock.ts';
import { createRequest, type IncomingRequest } from '../../src/http/message.ts';
import type { Grants } from '../../src/oauth/grants.ts';
import { createTokenSecrets } from '../../src/oauth/oauth1/secrets.ts';
import { readOAuth2 } from '../../src/oauth/oauth2-options.ts';
import { createOrigins } from '../../src/pipeline/origin.ts';
import { createAuthentication } from '../../src/service/authentication.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { basicHeader, oauth1Header, password, secret, user } from '../load/client/requests.ts';
import { client, consumer } from '../load/client/tokens.ts';
import type { Answer } from '../measure/parts/part.ts';
import { timedAsync } from '../measure/timing.ts';

const target = '/articles/1';
const perRound = 5000;
const masterKey = new Uint8Array(32);

/** Creates the contestant with this name. */
export async function part(name = ''): Promise<Answer> {
  const { authenticator, oauth } = createAuthentication(
    {
      users: { [user]: { secret, password } },
      clients: { [client.id]: { secret: client.secret, users: '*' } },
      consumers: { [consumer.key]: { secret: consumer.secret, callbacks: ['oob'] } },
      masterKey,
    },
    systemClock,
    randomBytes,
    {
      store: createMemoryStore({ storeId: 'bench' }),
      origins: createOrigins(undefined),
      settings: readOAuth2(undefined),
    },
  );
  const sign = await signing(name, oauth.grants);
  return async () => {
    const requests = Array.from({ length: perRound }, sign);
    return timedAsync(async () => {
      for (const request of requests) {
        if ((await authenticator.authenticate(request)) === undefined) throw new Error('nobody is known');
      }
    }, perRound);
  };
}

/** Returns valid requests, each of them once. */
async function signing(name: string, grants: Grants): Promise<() => IncomingRequest> {
  const run = randomBytes(6).toString('hex');
  let drawn = 0;
  const nonce = (): string => {
    drawn += 1;
    return `${run}${drawn.toString(36)}`;
  };
  switch (name) {
    case 'HMAC, full form':
    case 'HMAC, simple form':
      return () => {
        const form =
          name === 'HMAC, full form'
            ? ({ form: 'full', nonce: nonce() } as const)
            : ({ form: 'simple' } as const);
        const lines = signRequest({ method: 'GET', url: `http://localhost${target}`, user, secret, ...form });
        return asked(Object.entries(lines));
      };
    case 'Basic, remembered':
      return () => asked([['Authorization', basicHeader()]]);
    case 'Bearer': {
      const token = await drawnToken(grants, 'oauth2', client.id);
      return () => asked([['Authorization', `Bearer ${token}`]]);
    }
    case 'OAuth 1.0a': {
      const token = await drawnToken(grants, 'oauth1', consumer.key);
      const tokenSecret = createTokenSecrets(masterKey)('access', token);
      const keys = { consumer: consumer.key, consumerSecret: consumer.secret, token, tokenSecret };
      const url = `https://localhost${target}`;
      return () => asked([['Authorization', oauth1Header('GET', url, keys, nonce(), systemClock.now())]]);
    }
    default:
      throw new RangeError(`there is no scheme called ${name}`);
  }
}

async function drawnToken(grants: Grants, mechanism: 'oauth1' | 'oauth2', of: string): Promise<string> {
  const ends = systemClock.now() + 3_600_000;
  const common = { mechanism, client: of, user, scopes: ['read'] } as const;
  const { issued } = await grants.begin({ ...common, ends }, [{ ...common, kind: 'access', expires: ends }]);
  const [access] = issued;
  if (access === undefined) throw new Error('no token was issued');
  return access.value;
}

function asked(fields: readonly (readonly [string, string])[]): IncomingRequest {
  return createRequest({ method: 'GET', target, headers: fields, secure: true });
}
