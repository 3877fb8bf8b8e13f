import { raceSize } from '../cases/races.ts';
import { noRefreshToken } from './codes.ts';
import { type OAuthFlow, tokensIn } from './flow.ts';
import { Interruption, mustBeRefused, type OAuthCase, oneMustBeAccepted } from './report.ts';

/** Returns attempts to use a refresh token more than once. */
export function refreshTokenCases(flow: OAuthFlow): OAuthCase[] {
  return [
    {
      name: 'the refresh token is used twice',
      why: 'A rotated refresh token is valid once (RFC 9700 §4.14.2).',
      async run() {
        const { used } = await rotateToken(flow);
        return mustBeRefused(await flow.refresh(used));
      },
    },
    {
      name: 'the new refresh token is used after the first one was used twice',
      why: 'The server cannot know which use was that of an attacker, so it revokes the new token (RFC 9700 §4.14.2).',
      async run() {
        const { used, next } = await rotateToken(flow);
        await flow.refresh(used);
        return mustBeRefused(await flow.refresh(next));
      },
    },
    {
      name: `the refresh token is used ${raceSize} times at once`,
      why: 'A rotated refresh token is valid once, also for requests at the same time (RFC 9700 §4.14.2).',
      async run() {
        const { next } = await rotateToken(flow);
        return oneMustBeAccepted(await flow.refreshTogether(next, raceSize));
      },
    },
  ];
}

interface Rotated {
  readonly used: string;
  readonly next: string;
}

/** Uses a refresh token once. Throws Interruption if the server does not replace it, which only public clients require. */
async function rotateToken(flow: OAuthFlow): Promise<Rotated> {
  const { refreshToken: used } = await flow.tokens();
  if (used === undefined) throw noRefreshToken();
  const { refreshToken: next = used } = tokensIn(await flow.refresh(used));
  if (next === used && flow.client.secret !== undefined)
    throw new Interruption('skipped', 'the server does not rotate refresh tokens of this client');
  return { used, next };
}
