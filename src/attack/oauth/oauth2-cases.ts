import { raceSize } from '../cases/races.ts';
import type { WeaknessId } from '../weaknesses.ts';
import { type Changes, type IssuedCode, type OAuthClient, type OAuthFlow, tokensIn } from './flow.ts';
import { redirectUriCases } from './redirect-uris.ts';
import { Interruption, mustBeAccepted, type OAuthCase } from './report.ts';

/** Returns the attempts on each weakness of an authorization server of OAuth 2.0. */
export function oauth2Cases(
  flow: OAuthFlow,
  expireCodes: (() => unknown) | undefined,
): Readonly<Partial<Record<WeaknessId, readonly OAuthCase[]>>> {
  return {
    'authorization-code': codeCases(flow, expireCodes),
    'proof-key': pkceCases(flow),
    client: clientCases(flow),
    'refresh-token': refreshTokenCases(flow),
    'redirect-uri': redirectUriCases(flow),
  };
}

/** Returns attempts with codes that were used, have expired or were changed. */
function codeCases(flow: OAuthFlow, expireCodes: (() => unknown) | undefined): readonly OAuthCase[] {
  const { exchange } = flow;
  // It may have been stolen, and the attacker may have used it first.
  const stolen =
    'The first exchange may have been that of an attacker, so its tokens are revoked (RFC 6749 §4.1.2).';
  return [
    [
      'a code is exchanged for tokens',
      'Unless this is accepted, the refusal of other requests proves nothing.',
      async () => mustBeAccepted(await exchange(await flow.code())),
    ],
    [
      'the code is exchanged twice',
      'A code is valid once (RFC 6749 §4.1.2).',
      async () => {
        const code = await flow.code();
        await flow.tokens(code);
        return exchange(code);
      },
    ],
    [
      `the code is exchanged ${raceSize} times at once`,
      'A code is valid once, also for requests that arrive at the same time (RFC 6749 §4.1.2).',
      async () => flow.exchangeTogether(await flow.code(), raceSize),
    ],
    [
      'the access token is used after its code was exchanged twice',
      stolen,
      async () => {
        const code = await flow.code();
        const { accessToken } = await flow.tokens(code);
        const before = await flow.access(accessToken);
        if (before.status >= 300)
          throw new Interruption('inconclusive', `the resource refused a valid token with ${before.status}`);
        await exchange(code);
        return flow.access(accessToken);
      },
    ],
    [
      'the refresh token is used after its code was exchanged twice',
      stolen,
      async () => {
        const code = await flow.code();
        const refreshToken = await requireRefreshToken(flow, code);
        await exchange(code);
        return flow.refresh(refreshToken);
      },
    ],
    [
      'the code is exchanged after it expired',
      'A code expires shortly after it was issued (RFC 6749 §4.1.2).',
      async () => {
        if (expireCodes === undefined) throw new Interruption('skipped', 'the option expireCodes is missing');
        const code = await flow.code();
        await expireCodes();
        return exchange(code);
      },
    ],
    [
      'the code has one character changed',
      'The server did not issue this code.',
      async () => {
        const issued = await flow.code();
        const code = `${issued.code.startsWith('A') ? 'B' : 'A'}${issued.code.slice(1)}`;
        return exchange({ ...issued, code });
      },
    ],
    [
      'the code is exchanged with another redirect URI',
      'The redirect URI must be that of the authorization request (RFC 6749 §4.1.3).',
      async () => exchange(await flow.code(), { redirect_uri: 'https://evil.example/callback' }),
    ],
  ];
}

/** Obtains a refresh token. Throws Interruption if the server issues none. */
async function requireRefreshToken(flow: OAuthFlow, code?: IssuedCode): Promise<string> {
  const { refreshToken } = await flow.tokens(code);
  if (refreshToken === undefined) throw new Interruption('skipped', 'the server issued no refresh token');
  return refreshToken;
}

/** Returns attempts with missing or wrong proof keys (RFC 7636). */
function pkceCases(flow: OAuthFlow): readonly OAuthCase[] {
  const unknown = 'Only the client that requested the code knows the verifier (RFC 7636 §4.6).';
  const plain =
    'A plain challenge shows the verifier in the URL of the authorization request (RFC 9700 §2.1.1).';
  const withVerifier = (verifierOf: (code: IssuedCode) => string | undefined) => async () => {
    const code = await flow.code();
    return flow.exchange(code, { code_verifier: verifierOf(code) });
  };
  const withChallenge = (changes: (verifier: string) => Changes, sent?: Changes) => async () => {
    const code = await flow.codeUnlessRefused((_challenge, verifier) => changes(verifier));
    return code && flow.exchange(code, sent);
  };
  const without: Changes = { code_challenge: undefined, code_challenge_method: undefined };
  const cases: readonly OAuthCase[] = [
    [
      'the verifier is another one',
      unknown,
      withVerifier(({ verifier }) => [...verifier].reverse().join('')),
    ],
    ['the verifier is missing', unknown, withVerifier(() => undefined)],
    ['the verifier is empty', unknown, withVerifier(() => '')],
    [
      'the verifier is the challenge',
      'The challenge is in the URL of the authorization request, and its method was S256.',
      withVerifier(({ challenge }) => challenge),
    ],
    [
      'the challenge is plain',
      plain,
      withChallenge((verifier) => ({ code_challenge: verifier, code_challenge_method: 'plain' })),
    ],
    [
      'the challenge is plain, and has no method',
      plain,
      withChallenge((verifier) => ({ code_challenge: verifier, code_challenge_method: undefined })),
    ],
    [
      'a verifier is sent for a code without a challenge',
      'An attacker could remove the challenge from an authorization request (RFC 9700 §4.8.2).',
      withChallenge(() => without),
    ],
  ];
  if (flow.client.secret !== undefined) return cases;
  const omitted: OAuthCase = [
    'there is neither a challenge nor a verifier',
    'A public client has no other protection against a stolen code (RFC 9700 §2.1.1).',
    withChallenge(() => without, { code_verifier: undefined }),
  ];
  return [...cases, omitted];
}

/** Returns attempts as another client, or without the client's secret. */
function clientCases(flow: OAuthFlow): readonly OAuthCase[] {
  const { client, otherClient, exchange } = flow;
  const other = (): OAuthClient => {
    if (otherClient !== undefined) return otherClient;
    throw new Interruption('skipped', 'the option otherClient is missing');
  };
  const bound = 'A code or token is valid only for the client that it was issued to (RFC 6749 §4.1.3, §6).';
  const cases: OAuthCase[] = [
    ['the code is exchanged by another client', bound, async () => exchange(await flow.code(), {}, other())],
    [
      'the refresh token is used by another client',
      bound,
      async () => {
        const as = other();
        return flow.refresh(await requireRefreshToken(flow), as);
      },
    ],
  ];
  if (otherClient?.secret !== undefined && otherClient.authentication !== 'client_secret_post')
    cases.push([
      "the code is exchanged by another client, with the first one's client_id in the form",
      'The authenticated client counts, and not the one that is named elsewhere (RFC 6749 §3.2.1).',
      async () => exchange(await flow.code(), { client_id: client.id }, otherClient),
    ]);
  const { secret, ...publicClient } = client;
  if (secret === undefined) return cases;
  const required = 'A client with a secret must authenticate (RFC 6749 §3.2.1).';
  const as = (changed: OAuthClient) => async () => exchange(await flow.code(), {}, changed);
  return [
    ...cases,
    ['the secret of the client is another one', required, as({ ...publicClient, secret: `not-${secret}` })],
    ['the client does not authenticate', required, as(publicClient)],
  ];
}

/** Returns attempts to use a refresh token more than once. */
function refreshTokenCases(flow: OAuthFlow): readonly OAuthCase[] {
  return [
    [
      'the refresh token is used twice',
      'A rotated refresh token is valid once (RFC 9700 §4.14.2).',
      async () => flow.refresh((await rotateToken(flow)).used),
    ],
    [
      'the new refresh token is used after the first one was used twice',
      'The server cannot know which use was that of an attacker, so it revokes the new token (RFC 9700 §4.14.2).',
      async () => {
        const { used, next } = await rotateToken(flow);
        await flow.refresh(used);
        return flow.refresh(next);
      },
    ],
    [
      `the refresh token is used ${raceSize} times at once`,
      'A rotated refresh token is valid once, also for requests at the same time (RFC 9700 §4.14.2).',
      async () => flow.refreshTogether((await rotateToken(flow)).next, raceSize),
    ],
  ];
}

interface Rotated {
  readonly used: string;
  readonly next: string;
}

/** Uses a refresh token once. Throws Interruption if the server does not replace it, which only public clients require. */
async function rotateToken(flow: OAuthFlow): Promise<Rotated> {
  const used = await requireRefreshToken(flow);
  const { refreshToken: next = used } = tokensIn(await flow.refresh(used));
  if (next === used && flow.client.secret !== undefined)
    throw new Interruption('skipped', 'the server does not rotate refresh tokens of this client');
  return { used, next };
}
