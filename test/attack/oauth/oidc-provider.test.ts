import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { describe, type TestContext, test } from 'node:test';
import { type AttackOAuth2Options, type AttackReport, attackOAuth2 } from '../../../src/attack/index.ts';
import { listen } from '../../support/net/listen.ts';

const app: AttackOAuth2Options['client'] = {
  id: 'app',
  secret: 'a secret of app',
  redirectUri: 'https://client.example/callback',
  scope: 'openid offline_access',
};
const phone: AttackOAuth2Options['client'] = {
  id: 'phone',
  redirectUri: app.redirectUri,
  scope: 'openid offline_access',
};
const rival: AttackOAuth2Options['client'] = {
  id: 'rival',
  secret: 'a secret of rival',
  authentication: 'client_secret_post',
  redirectUri: 'https://rival.example/',
};

/** Returns the module of an independent authorization server. Undefined if it is not installed. */
function installed(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve('oidc-provider');
  } catch {
    return undefined;
  }
}

interface OidcProvider {
  Provider: new (issuer: string, options: unknown) => { callback(): RequestListener };
}

/** Opens the authorization server. Returns its URL. */
async function open(context: TestContext): Promise<string> {
  // It reports that it is not configured for production.
  for (const name of ['info', 'warn'] as const) context.mock.method(console, name, () => undefined);
  const server = createServer();
  const issuer = await listen(context, server);
  const { Provider }: OidcProvider = await import(installed() ?? '');
  const provider = new Provider(issuer, {
    clients: [app, phone, rival].map((client) => ({
      client_id: client.id,
      redirect_uris: [client.redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...(client.secret === undefined
        ? { token_endpoint_auth_method: 'none' }
        : {
            client_secret: client.secret,
            token_endpoint_auth_method: client.authentication ?? 'client_secret_basic',
          }),
    })),
    cookies: { keys: ['a key'] },
    rotateRefreshToken: true,
  });
  server.on('request', provider.callback());
  return issuer;
}

/** Logs a user in and consents, as a browser does. Returns the redirect to the client. */
async function approve(issuer: string, authorizationUrl: string): Promise<string | undefined> {
  const cookies = new Map<string, string>();
  const request = async (url: string, form?: Record<string, string>): Promise<Response> => {
    const headers = { Cookie: [...cookies].map((pair) => pair.join('=')).join('; ') };
    const body = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) };
    const response = await fetch(url, { ...body, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  let response = await request(authorizationUrl);
  let url = authorizationUrl;
  for (let steps = 0; steps < 10; steps += 1) {
    const location = response.headers.get('location');
    if (location !== null) {
      url = new URL(location, url).href;
      if (!url.startsWith(issuer)) return url;
      response = await request(url);
      continue;
    }
    const prompt = /name="prompt" value="(\w+)"/.exec(await response.text())?.[1];
    if (prompt === undefined) return undefined;
    response = await request(url, { prompt, login: 'johndoe', password: 'any' });
  }
  throw new Error('the authorization server redirects too often');
}

type Metadata = AttackOAuth2Options['metadata'] & { readonly userinfo_endpoint: string };

async function attacked(context: TestContext, client: AttackOAuth2Options['client']): Promise<AttackReport> {
  const issuer = await open(context);
  context.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 1, 9) });
  const response = await fetch(`${issuer}/.well-known/openid-configuration`);
  const metadata: Metadata = JSON.parse(await response.text());
  return attackOAuth2({
    metadata,
    client,
    otherClient: rival,
    parameters: { prompt: 'consent' },
    resource: metadata.userinfo_endpoint,
    expireCodes: () => context.mock.timers.tick(120_000),
    approve: (url) => approve(issuer, url),
  });
}

const skip = installed() === undefined ? 'oidc-provider is missing: npm ci --prefix test' : false;

describe('oidc-provider', { skip }, () => {
  for (const client of [app, phone]) {
    test(`refuses all requests as ${client.id}`, async (context) => {
      const report = await attacked(context, client);
      assert.ok(report.passed, String(report));
      assert.equal(report.skipped.length, 0, String(report));
      assert.ok(report.results.length >= 35, String(report));
    });
  }
});
