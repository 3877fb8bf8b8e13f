/** Requests tokens from the endpoints over TLS, as clients do. */
import { randomBytes } from 'node:crypto';
import { request } from 'node:https';
import { basicHeader, type OAuth1Keys, oauth1Header } from './requests.ts';

/** The configured OAuth 2.0 client. */
export const client = { id: 'bench-client', secret: 'Wd3kQ8sLx1Rb6nYcTf7hJk9LzEpT2mQv' };
/** The configured OAuth 1.0a consumer. */
export const consumer = { key: 'bench-consumer', secret: 'Yc3dFg7hJk9LzEKZ4pT2mQv8sWx1Rb6n' };

/** Requests an access token with client_credentials. */
export async function bearerToken(origin: string): Promise<string> {
  const form = { grant_type: 'client_credentials', scope: 'read' };
  const reply = await post(`${origin}/oauth2/token`, basicHeader(client.id, client.secret), form);
  const { access_token }: { access_token: string } = JSON.parse(reply);
  return access_token;
}

/** Requests an OAuth 1.0a access token in all three steps. */
export async function oauth1Keys(origin: string): Promise<OAuth1Keys> {
  const nobody = { consumer: consumer.key, consumerSecret: consumer.secret, token: '', tokenSecret: '' };
  const first = await signedPost(`${origin}/oauth1/request_token`, nobody, { oauth_callback: 'oob' });
  const page = `${origin}/oauth1/authorize?oauth_token=${encodeURIComponent(first.token)}`;
  const consent = await send(page, 'GET', { Authorization: basicHeader(), Accept: 'application/json' });
  const { consent_ticket }: { consent_ticket: string } = JSON.parse(consent);
  const answer = await post(page, basicHeader(), { consent_ticket, decision: 'allow' });
  const verifier = /id="oauth_verifier">([^<]+)</.exec(answer)?.[1] ?? '';
  return signedPost(`${origin}/oauth1/access_token`, { ...nobody, ...first }, { oauth_verifier: verifier });
}

async function signedPost(
  url: string,
  keys: OAuth1Keys,
  extra: Readonly<Record<string, string>>,
): Promise<OAuth1Keys> {
  const nonce = randomBytes(8).toString('hex');
  const reply = await post(url, oauth1Header('POST', url, keys, nonce, Date.now(), extra), {});
  const given = new URLSearchParams(reply);
  const [token, tokenSecret] = [given.get('oauth_token') ?? '', given.get('oauth_token_secret') ?? ''];
  return { ...keys, token, tokenSecret };
}

function post(url: string, authorization: string, form: Readonly<Record<string, string>>): Promise<string> {
  const headers = { Authorization: authorization, 'Content-Type': 'application/x-www-form-urlencoded' };
  return send(url, 'POST', headers, new URLSearchParams(form).toString());
}

function send(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  content = '',
): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, rejectUnauthorized: false, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text);
        else
          reject(new Error(`${method} ${new URL(url).pathname} is answered ${response.statusCode}: ${text}`));
      });
    });
    sent.on('error', reject);
    sent.end(content);
  });
}
