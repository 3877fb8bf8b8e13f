import { promisify } from 'node:util';
import { OAuth, OAuth2 } from 'oauth';
import { approve, step, user } from './approve.mjs';

const { BASE, CONSUMER_KEY, CONSUMER_SECRET, CALLBACK, CLIENT_ID, CLIENT_SECRET } = process.env;

/** What a method of the library calls back with: the error, or the other arguments. */
const call = (object, method, ...given) =>
  new Promise((resolve, reject) => {
    object[method](...given, (error, ...results) => (error ? reject(error) : resolve(results)));
  });

const endpoints = [`${BASE}/oauth1/request_token`, `${BASE}/oauth1/access_token`];
const client = new OAuth(...endpoints, CONSUMER_KEY, CONSUMER_SECRET, '1.0', CALLBACK, 'HMAC-SHA1');
const [token, secret] = await call(client, 'getOAuthRequestToken');
const back = await approve(`${BASE}/oauth1/authorize?oauth_token=${token}`);
const verifier = back.searchParams.get('oauth_verifier');
const own = await call(client, 'getOAuthAccessToken', token, secret, verifier);
step('three legs', own[0] !== token);
const [data] = await call(client, 'get', `${BASE}/users/${user}/financialrecords?limit=1`, own[0], own[1]);
step('resource', data.includes('<financialrecords'));
const article = '<article><title>A+B &amp; C</title><price currency="EUR">1.00</price></article>';
const [made] = await call(client, 'post', `${BASE}/articles`, own[0], own[1], article, 'application/xml');
step('POST of XML', made.includes('A+B'));

const second = new OAuth2(CLIENT_ID, CLIENT_SECRET, `${BASE}/`, 'oauth2/authorize', 'oauth2/token');
const ask = promisify((code, given, done) =>
  second.getOAuthAccessToken(code, given, (e, token) => done(e, token)),
);
const bearer = await ask('', { grant_type: 'client_credentials', scope: 'read' });
step('client_credentials', bearer.length, 43);
second.useAuthorizationHeaderforGET(true);
const [listed] = await call(second, 'get', `${BASE}/articles`, bearer);
step('articles by bearer', listed.includes('<articles'));
