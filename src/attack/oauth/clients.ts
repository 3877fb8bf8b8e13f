import { noRefreshToken } from './codes.ts';
import type { OAuthClient, OAuthFlow } from './flow.ts';
import { Interruption, mustBeRefused, type OAuthCase } from './report.ts';

/** Returns attempts as another client, or without the client's secret. */
export function clientCases(flow: OAuthFlow): OAuthCase[] {
  const { client, otherClient } = flow;
  const other = (): OAuthClient => {
    if (otherClient !== undefined) return otherClient;
    throw new Interruption('skipped', 'the option otherClient is missing');
  };
  const why = 'A code or token is valid only for the client that it was issued to (RFC 6749 §4.1.3, §6).';
  const cases: OAuthCase[] = [
    {
      name: 'the code is exchanged by another client',
      why,
      run: async () => mustBeRefused(await flow.exchange(await flow.code(), {}, other())),
    },
    {
      name: 'the refresh token is used by another client',
      why,
      async run() {
        const as = other();
        const { refreshToken } = await flow.tokens();
        if (refreshToken === undefined) throw noRefreshToken();
        return mustBeRefused(await flow.refresh(refreshToken, as));
      },
    },
  ];
  if (otherClient?.secret !== undefined && otherClient.authentication !== 'client_secret_post')
    cases.push({
      name: "the code is exchanged by another client, with the first one's client_id in the form",
      why: 'The authenticated client counts, and not the one that is named elsewhere (RFC 6749 §3.2.1).',
      async run() {
        const code = await flow.code();
        return mustBeRefused(await flow.exchange(code, { client_id: client.id }, otherClient));
      },
    });
  return client.secret === undefined ? cases : [...cases, ...tryWrongSecrets(flow)];
}

function tryWrongSecrets(flow: OAuthFlow): OAuthCase[] {
  const why = 'A client with a secret must authenticate (RFC 6749 §3.2.1).';
  const { secret, ...publicClient } = flow.client;
  const wrong: OAuthClient = { ...publicClient, secret: `not-${secret}` };
  const as = (name: string, client: OAuthClient): OAuthCase => ({
    name,
    why,
    run: async () => mustBeRefused(await flow.exchange(await flow.code(), {}, client)),
  });
  return [
    as('the secret of the client is another one', wrong),
    as('the client does not authenticate', publicClient),
  ];
}
