import { raceSize } from '../cases/races.ts';
import type { OAuthFlow } from './flow.ts';
import { Interruption, mustBeAccepted, mustBeRefused, type OAuthCase, oneMustBeAccepted } from './report.ts';

/** Returns attempts with codes that were used, have expired or were changed. */
export function codeCases(flow: OAuthFlow, expireCodes: (() => unknown) | undefined): OAuthCase[] {
  return [
    {
      name: 'a code is exchanged for tokens',
      why: 'Unless this is accepted, the refusal of other requests proves nothing.',
      run: async () => mustBeAccepted(await flow.exchange(await flow.code())),
    },
    {
      name: 'the code is exchanged twice',
      why: 'A code is valid once (RFC 6749 §4.1.2).',
      async run() {
        const code = await flow.code();
        await flow.tokens(code);
        return mustBeRefused(await flow.exchange(code));
      },
    },
    {
      name: `the code is exchanged ${raceSize} times at once`,
      why: 'A code is valid once, also for requests that arrive at the same time (RFC 6749 §4.1.2).',
      run: async () => oneMustBeAccepted(await flow.exchangeTogether(await flow.code(), raceSize)),
    },
    ...useTwice(flow),
    {
      name: 'the code is exchanged after it expired',
      why: 'A code expires shortly after it was issued (RFC 6749 §4.1.2).',
      async run() {
        if (expireCodes === undefined) throw new Interruption('skipped', 'the option expireCodes is missing');
        const code = await flow.code();
        await expireCodes();
        return mustBeRefused(await flow.exchange(code));
      },
    },
    {
      name: 'the code has one character changed',
      why: 'The server did not issue this code.',
      async run() {
        const issued = await flow.code();
        const code = `${issued.code.startsWith('A') ? 'B' : 'A'}${issued.code.slice(1)}`;
        return mustBeRefused(await flow.exchange({ ...issued, code }));
      },
    },
    {
      name: 'the code is exchanged with another redirect URI',
      why: 'The redirect URI must be that of the authorization request (RFC 6749 §4.1.3).',
      async run() {
        const redirect_uri = 'https://evil.example/callback';
        return mustBeRefused(await flow.exchange(await flow.code(), { redirect_uri }));
      },
    },
  ];
}

/** Tokens of a code that was used twice: it may have been stolen, and the attacker may have used it first. */
function useTwice(flow: OAuthFlow): OAuthCase[] {
  const why =
    'The first exchange may have been that of an attacker, so its tokens are revoked (RFC 6749 §4.1.2).';
  return [
    {
      name: 'the access token is used after its code was exchanged twice',
      why,
      async run() {
        const code = await flow.code();
        const { accessToken } = await flow.tokens(code);
        const before = await flow.access(accessToken);
        if (before.status >= 300)
          throw new Interruption('inconclusive', `the resource refused a valid token with ${before.status}`);
        await flow.exchange(code);
        return mustBeRefused(await flow.access(accessToken));
      },
    },
    {
      name: 'the refresh token is used after its code was exchanged twice',
      why,
      async run() {
        const code = await flow.code();
        const { refreshToken } = await flow.tokens(code);
        if (refreshToken === undefined) throw noRefreshToken();
        await flow.exchange(code);
        return mustBeRefused(await flow.refresh(refreshToken));
      },
    },
  ];
}

/** Returns the error that ends an attempt which requires a refresh token. */
export function noRefreshToken(): Interruption {
  return new Interruption('skipped', 'the server issued no refresh token');
}
