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
async function open(context: TestContext, adapter: unknown): Promise<string> {
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
    ...(adapter === undefined ? {} : { adapter }),
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

async function attacked(
  context: TestContext,
  client: AttackOAuth2Options['client'],
  adapter?: unknown,
): Promise<AttackReport> {
  const issuer = await open(context, adapter);
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

type Payload = Record<string, unknown>;

/** Returns a class of stores that answer later, as a database does, and do not compare before they change. */
function createSlowAdapter(): unknown {
  const items = new Map<string, Payload>();
  return class {
    readonly model: string;

    constructor(model: string) {
      this.model = model;
    }

    async upsert(id: string, payload: Payload): Promise<void> {
      await turn();
      items.set(`${this.model} ${id}`, payload);
    }

    async find(id: string): Promise<Payload | undefined> {
      await turn();
      const payload = items.get(`${this.model} ${id}`);
      return payload && { ...payload };
    }

    async findByUid(uid: string): Promise<Payload | undefined> {
      await turn();
      return [...items.values()].find((payload) => payload['uid'] === uid);
    }

    async consume(id: string): Promise<void> {
      await turn();
      const key = `${this.model} ${id}`;
      items.set(key, { ...items.get(key), consumed: Math.floor(Date.now() / 1000) });
    }

    async destroy(id: string): Promise<void> {
      await turn();
      items.delete(`${this.model} ${id}`);
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      await turn();
      for (const [key, payload] of items) if (payload['grantId'] === grantId) items.delete(key);
    }
  };
}

async function turn(): Promise<void> {
  for (let turns = 0; turns < 5; turns += 1) await new Promise<void>((resolve) => setImmediate(resolve));
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

  test('accepts codes and refresh tokens several times in a race if its store does not compare before it changes', async (context) => {
    const report = await attacked(context, app, createSlowAdapter());
    assert.deepEqual(
      report.failed.map(({ name, note }) => `${name}: ${note}`),
      [
        'the code is exchanged 8 times at once: 8 of 8 requests were accepted',
        'the refresh token is used 8 times at once: 8 of 8 requests were accepted',
      ],
    );
    assert.deepEqual(report.inconclusive, [], String(report));
  });
});
