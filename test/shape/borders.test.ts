import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import * as attack from '../../src/attack/index.ts';
import * as client from '../../src/client/index.ts';
import { type Double, startDouble } from '../../src/double/index.ts';
import { action, createService, defineCollection, defineScheme, text } from '../../src/index.ts';
import { OptionsError, readOptions } from '../../src/options/options.ts';
import { call } from '../support/cli/command.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

// Where a value enters, and the sentence about a wrong one. Each border has its own error; the sentences have one wording.

const directory = temporaryDirectory();
const file = join(directory, 'countersign.json');

const users = { ann: { secret: 'the secret of ann' } };
const clients = { app: { secret: 'the secret of the client', redirectUris: ['https://client.example/cb'] } };
const handler = () => text('');
const good = { url: 'http://api.example/' };

/** A data directory that no row creates. */
const data = join(directory, 'data');

/** Runs a command with a secret in the environment and on standard input. Fails with its status and what it printed. */
async function runCommand(value: unknown): Promise<never> {
  const args = Array.isArray(value) ? value.map(String) : String(value).split(' ');
  const secret = 'the secret of nobody';
  const environment = { COUNTERSIGN_DATA: data, COUNTERSIGN_SECRET: secret };
  const { status, stdout, stderr } = await call(args, { environment, input: `${secret}\n` });
  assert.equal(stdout, '');
  throw new Error(`${status} ${stderr.trimEnd().replaceAll('countersign: ', '')}`);
}

/** Calls a function as a caller in JavaScript can: with any arguments. */
function invoke(method: unknown, ...values: readonly unknown[]): unknown {
  assert.ok(typeof method === 'function');
  return Reflect.apply(method, undefined, values);
}

/** Returns a document of a partner whose only operation has this description. */
function partnerWith(operation: unknown): object {
  const info = { title: 'Partner', version: '1' };
  return { openapi: '3.1.0', info, paths: { '/orders': { get: operation } } };
}

async function sendControl(double: Double, method: string, path: string, content: unknown): Promise<never> {
  await using control = await double.openControl({});
  const headers = { Authorization: `Bearer ${control.token}`, 'Content-Type': 'application/json' };
  const response = await fetch(control.url + path, { method, headers, body: JSON.stringify(content) });
  throw await describeProblem(response);
}

/** Returns the status and the detail of a problem document as an error. */
async function describeProblem(response: Response): Promise<Error> {
  const problem: unknown = JSON.parse(await response.text());
  return new Error(`${response.status} ${Reflect.get(Object(problem), 'detail')}`);
}

async function sendItem(double: Double, content: unknown): Promise<never> {
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/problem+json, application/json',
  };
  const body = JSON.stringify(content);
  throw await describeProblem(await double.as('ann').fetch('/articles', { method: 'POST', headers, body }));
}

/** Passes a value over a border. */
const borders: Readonly<Record<string, (value: unknown, double: Double) => unknown>> = {
  command: runCommand,
  flag: (value) => invoke(readOptions, value, {}),
  variable: (value) => invoke(readOptions, [], value),
  file(value) {
    writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
    return readOptions(['--config', file], {});
  },
  createService: (value) => invoke(createService, value),
  startDouble: (value) => invoke(startDouble, value),
  user: (value, { auth }) => invoke(auth.setUser, 'bob', value),
  scheme: (value) => invoke(createService, { schemes: { own: value } }),
  aws4: (value) => invoke(createService, { schemes: { aws4: value } }),
  'message-signatures': (value) => invoke(createService, { schemes: { 'message-signatures': value } }),
  'draft-cavage': (value) => invoke(createService, { schemes: { 'draft-cavage': value } }),
  defineScheme: (value) => invoke(defineScheme, value),
  collection: (value) => invoke(defineCollection, '/orders', value),
  resource: (value, double) => invoke(double.resource, '/r', value),
  'resource of a user': (value, double) => invoke(double.resource, '/users/{name}', value),
  stub: (value, double) => invoke(double.stub, value, {}),
  'options of a stub': (value, double) => invoke(double.stub, {}, {}, value),
  'response of a stub': (value, double) => invoke(double.stub, {}, value),
  fault: (value, { faults }) => invoke(faults.next, {}, value),
  'match of a fault': (value, { faults }) => invoke(faults.next, value, { status: 503 }),
  'match of a stale certificate': (value, { faults }) =>
    invoke(faults.next, value, { staleCertificate: true }),
  'match without a fault': (value, { faults }) => invoke(faults.next, value),
  event: (value, double) => invoke(double.on, value, () => undefined),
  listener: (value, double) => invoke(double.on, 'request', value),
  journal: (value, { journal }) => invoke(journal.all, value),
  waitFor: (value, { journal }) => invoke(journal.waitFor, {}, value),
  as: (value, double) => invoke(double.as, 'ann', value),
  fetch: (value, double) => invoke(double.fetch, '/', value),
  issueToken: (value, { oauth2 }) => invoke(oauth2.issueToken, value),
  approve: (value, { oauth2 }) => invoke(oauth2.approve, '/oauth2/authorize', value),
  revokeTokens: (value, { oauth2 }) => invoke(oauth2.revokeTokens, value),
  rotateSecret: (value, { auth }) => invoke(auth.rotateSecret, 'ann', value),
  openControl: (value, double) => invoke(double.openControl, value),
  'control fault': (value, double) => sendControl(double, 'POST', '/faults', value),
  'control stub': (value, double) => sendControl(double, 'POST', '/stubs', value),
  'control clock': (value, double) => sendControl(double, 'POST', '/clock/advance', value),
  partner: (value) =>
    invoke(startDouble, { partner: { document: partnerWith(value), strict: true }, https: false }),
  'options of a partner': (value) => invoke(startDouble, { partner: value, https: false }),
  item: (value, double) => sendItem(double, value),
  signRequest: (value) => invoke(client.signRequest, value),
  createSigner: (value) => invoke(attack.createSigner, value),
  createAttempts: (value) =>
    invoke(attack.createAttempts, good, attack.createSigner({ user: 'a', secret: 'b' }), value),
};

const rows: Readonly<Record<string, readonly (readonly [value: unknown, sentence: string])[]>> = {
  command: [
    ['backup', '2 backup requires one new directory: countersign backup DIR'],
    ['backup a --replac', '2 unknown option --replac'],
    ['restore', '2 restore requires the directory of a backup: countersign restore DIR'],
    ['check --repair', '2 --repair requires a value'],
    ['check --confg x', '2 unknown option --confg; did you mean "--config"?'],
    ['check --memory --on-mismatch ignore', '1 --on-mismatch must be one of refuse, warn, is "ignore"'],
    ['export --ouput x', '2 unknown option --ouput; did you mean "--output"?'],
    ['import --inptu x', '2 unknown option --inptu; did you mean "--input"?'],
    ['import file', '2 import takes no arguments, only options'],
    ['export --with-tokens=maybe', '2 --with-tokens must be true or false'],
    [
      'user',
      '2 missing action; expected one of add, rotate, password, quota, schemes, remove, disable, enable, list: countersign user add NAME',
    ],
    [
      'user ad x',
      '2 unknown action "ad"; expected one of add, rotate, password, quota, schemes, remove, disable, enable, list; did you mean "add"?',
    ],
    ['user add', '2 add requires one name: countersign user add NAME'],
    ['user list a', '2 list takes no name'],
    ['user add a:b', '2 a user name must have no colon'],
    ['user add a\u0007', '2 a user name must have no control characters'],
    [`user add ${'x'.repeat(129)}`, '2 a user name must have 1 to 128 bytes'],
    [
      'user add a --grace 1w',
      '2 --grace is an option of rotate only\n--grace must be a time such as 90s, 15m, 24h or 7d, or 0',
    ],
    ['user rotate a --grcae 1h', '2 unknown option --grcae; did you mean "--grace"?'],
    ['user password', '2 password requires one name: countersign user password NAME'],
    ['user add a --password-stdin', '2 --password-stdin is an option of password only'],
    ['user add a --secret-stdin=x', '2 --secret-stdin takes no value'],
    ['user quota ann --quota 5', '2 --quota must be such as 1000/1h, 20/1s,1000/1h or none'],
    ['user rotate ann --quota 5/1h', '2 --quota is an option of add and quota only'],
    [['user', 'add', 'bob', '--schemes', 'a b'], '2 --schemes: "a b" is not the name of a scheme'],
    ['user role add ann', '2 add requires --role ROLE'],
    ['user key add ann --generate ed25519', '2 add requires --key-id ID'],
    [
      'user key add ann --key-id k',
      '2 add requires one of --public-key FILE, --generate ALGORITHM and --secret-stdin',
    ],
    [
      ['user', 'key', 'add', 'ann', '--key-id', 'a b', '--generate', 'ed25519'],
      '2 the id of a key must have no white space, quotes, backslashes, commas and control characters',
    ],
    ['user key list ann --generate ed25519', '2 --generate is an option of add only'],
    ['user key delete ann', '2 unknown action "delete"; expected one of add, remove, list'],
    ['client', '2 missing action; expected one of add, rotate, remove, list: countersign client add ID'],
    ['client rotate', '2 rotate requires one ID: countersign client rotate ID'],
    ['client rotate app --public', '2 --public is an option of add only'],
    ['client remove app --secret-stdin', '2 --secret-stdin is an option of add and rotate only'],
    ['client add app --public=false --redirect-uri https://c.example', '2 --public takes no value'],
    [
      'client add app',
      '2 --grant authorization_code requires a --redirect-uri; a client without users can use --grant client_credentials',
    ],
    [
      'client add app --redirect-uri https://c.example --redirect-uri=http://a.example/',
      '2 --redirect-uri "http://a.example/" is plain HTTP to another host than the loopback',
    ],
    [
      'client add app --redirect-uri https://c.example --grant password',
      '2 --grant "password" is not one of authorization_code, refresh_token, client_credentials',
    ],
    [
      'client add app --redirect-uri https://c.example --users ann --users *',
      '2 --users "*" is only allowed alone, not in a list',
    ],
    [
      'client add a:b --redirect-uri https://c.example',
      '2 the client a:b needs an id of 1 to 128 printable ASCII characters without a colon',
    ],
    [
      'client add app --secret hidden-secret --redirect-uri https://c.example',
      '2 unknown option --secret; did you mean "--secret-stdin"?',
    ],
    [
      'client add app --public --secret-stdin --redirect-uri https://c.example',
      '2 --public and --secret-stdin are mutually exclusive',
    ],
    [
      'client add app --public --grant client_credentials',
      '2 the client app has no secret, and so cannot have the grant client_credentials',
    ],
    [
      'consumer add key',
      '2 --callback URI or --callback oob is required; a consumer without tokens can have --users NAME',
    ],
    [
      'consumer add key --callback=oob --method RSA-SHA1 --secret-stdin',
      '2 --secret-stdin cannot be used: the methods with RSA have no secret',
    ],
    [
      'consumer add key --callback nowhere',
      '2 --callback "nowhere" is not an absolute URI without a fragment',
    ],
    [
      'consumer add key --callback=oob --method RSA-SHA1',
      '2 the consumer key has neither a secret nor an RSA key\n--method have RSA-SHA1, and there is no rsaPublicKey',
    ],
    [
      'consumer add key --callback=oob --method HMAC-MD5',
      '2 --method "HMAC-MD5" is not one of HMAC-SHA256, HMAC-SHA1, HMAC-SHA512, PLAINTEXT, RSA-SHA256, RSA-SHA1, RSA-SHA512',
    ],
    ['grant', '2 missing action; expected one of list, revoke: countersign grant list'],
    ['grant remove', '2 unknown action "remove"; expected one of list, revoke; did you mean "revoke"?'],
    ['grant list x', '2 list takes no id'],
    ['grant revoke', '2 revoke requires an id, --user NAME or --client ID'],
    ['grant revoke short', '2 "short" is not the id of a grant; to list them: countersign grant list'],
    [
      'sign GET http://h/ --user u --secret s',
      '2 the secret cannot be an argument, which other users of this host can read: use COUNTERSIGN_SECRET',
    ],
    [
      'sign GET http://h/ --usr u --date',
      '2 unknown option --usr; did you mean "--user"?\n--date requires a value',
    ],
    [
      'sign GET',
      '2 sign requires a method and a URL: countersign sign METHOD URL --user NAME\n--user NAME is required',
    ],
    [
      ['sign', 'G T', '/articles', '--user', 'u', '--simple', '--nonce', 'a'],
      '2 "G T" is not a valid method\n"/articles" is not a URL such as http://127.0.0.1:8080/articles\n--nonce cannot be used with --simple',
    ],
    ['sign GTE http://h/ --user u', '2 unknown method GTE; did you mean "GET"?'],
    ['sign delete http://h/ --user u', '2 unknown method delete; did you mean "DELETE"?'],
    ['sign GET http://a:b@h/ --user u', '2 the URL must not contain a user name or password'],
    [
      'sign GET http://h/ --user a:b',
      '2 a user has at least one character, no colon and no control characters',
    ],
    [
      'sign GET http://h/ --user u --nonce a+b',
      '2 a nonce is 1 to 128 characters out of A-Z a-z 0-9 . _ ~ -',
    ],
    ['attack', '2 attack requires one URL: countersign attack URL --user NAME'],
    ['attack /articles', '2 "/articles" is not a URL such as http://127.0.0.1:8080/articles'],
    ['attack http://h/', '2 --user NAME is required'],
    [
      'attack http://h/ --scheme strip',
      '2 there is no scheme "strip" without --config FILE; did you mean "stripe"?',
    ],
    [
      'attack http://h/ --user ann --waive future',
      '2 --waive requires an id and a reason: --waive "future-date=the reason"',
    ],
    [
      'attack http://h/ --user ann --waive futur-date=x',
      '2 the options of attack.waive: there is no weakness "futur-date"; did you mean "future-date"?',
    ],
    [
      'attack http://h/ --user ann --window soon',
      '2 window must be a number of seconds or text such as "5m"',
    ],
    ['attack http://h/ --scheme x --key-id k', '2 --key-id requires --config FILE'],
    ['schema config.json', '2 unexpected argument "config.json"'],
    ['schema --port 1', '2 unknown option --port'],
    ['openapi x', '2 unexpected argument "x"'],
    ['completion', '2 completion requires a shell: bash, zsh, fish'],
    ['key', '2 missing action; expected one of list, rotate: countersign key list'],
    ['key x', '2 unknown action "x"; expected one of list, rotate'],
  ],
  flag: [
    [['--prot', '1'], 'unknown option --prot; did you mean "--port"?'],
    [['--port', 'x'], '--port must be an integer from 0 to 65535, is "x"'],
    [
      ['--window', '5x'],
      '--window must be a whole number of seconds from 1 to 31536000 or text such as 5m, is "5x"',
    ],
    [['--log', 'prety'], '--log must be one of pretty, json, off, is "prety"; did you mean "pretty"?'],
    [['--base-path', 'x/'], '--base-path must be a path such as /api, without a slash at the end, is "x/"'],
    [['--quota', '5'], '--quota must be such as 1000/1h, 20/1s,1000/1h or none'],
    [
      ['--trust-proxy', '10.0.0.0/99'],
      '--trust-proxy: "10.0.0.0/99" is not a network such as 10.0.0.0/8 or fd00::/8',
    ],
    [['--cors-origin', 'x'], '--cors-origin: "x" has no scheme; write https://x'],
    [
      ['--public-url', 'http://a'],
      '--public-url must be an https origin such as https://api.example, is "http://a"',
    ],
    [['--memory=2'], '--memory must be true or false, is "2"'],
    [['--host', 'a b'], '--host must be an address such as 127.0.0.1, ::1 or localhost, is "a b"'],
    [
      ['--health-path', '/a/'],
      '--health-path must be a path such as /api, without a slash at the end, is "/a/"',
    ],
    [['-p', '1'], 'unknown option -p'],
    [['--data', '--memory'], '--data requires a value'],
    [['--port', '1', '--port=1'], '--port is given more than once'],
    [['--data='], '--data must be non-empty text, is empty'],
    [['--no-http', '--no-tls'], '--no-http and --no-tls together leave no port to listen on'],
    [['--port', '8443'], '--port and --tls-port are both 8443'],
    [['--control-port', '8080'], '--control-port and --port are both 8080'],
    [['--tls-cert', 'c.pem'], '--tls-cert and --tls-key must be used together: --tls-key is missing'],
    [['--tls-key', 'k.pem'], '--tls-cert and --tls-key must be used together: --tls-cert is missing'],
    [
      ['--trust-proxy', '192.0.2.1/24'],
      '--trust-proxy: "192.0.2.1/24" has bits set behind its prefix; the network is 192.0.2.0/24',
    ],
    [['--oauth1-window', '601'], '--oauth1-window must be at most --window, which is 600, is 601'],
    [
      ['--public-url', 'https://a.example/b'],
      '--public-url must be an https origin such as https://api.example, is "https://a.example/b"',
    ],
    [['stop'], 'unexpected argument "stop"'],
    [
      ['--idempotency-lifetime', '0'],
      '--idempotency-lifetime must be a whole number of seconds from 1 to 31536000 or text such as 5m, is 0',
    ],
    [
      ['--cors-origin', 'https://app.example/'],
      '--cors-origin: "https://app.example/" has a trailing slash; write https://app.example',
    ],
    [['--cors-origin='], '--cors-origin must be a list of origins, is empty'],
    [
      ['--cors-origin', '*', '--cors-origin', 'https://app.example'],
      '--cors-origin: "*" includes all origins; remove the others',
    ],
    [
      ['--cors-origin', '*', '--cors-credentials'],
      '--cors-origin: "*" is impossible with credentials; write each origin',
    ],
  ],
  variable: [
    [{ COUNTERSIGN_PROT: '1' }, 'accepted'],
    [{ COUNTERSIGN_PORT: '-1' }, 'COUNTERSIGN_PORT must be an integer from 0 to 65535, is "-1"'],
    [
      { COUNTERSIGN_LOG: 'jsn' },
      'COUNTERSIGN_LOG must be one of pretty, json, off, is "jsn"; did you mean "json"?',
    ],
  ],
  file: [
    [{ prot: 1 }, 'FILE: unknown key prot; did you mean "port"?'],
    [{ port: '80' }, 'FILE: port must be an integer from 0 to 65535, is "80"'],
    [{ port: 70000 }, 'FILE: port must be an integer from 0 to 65535, is 70000'],
    [
      { window: '5 m' },
      'FILE: window must be a whole number of seconds from 1 to 31536000 or text such as 5m, is "5 m"',
    ],
    [{ log: 'jsn' }, 'FILE: log must be one of pretty, json, off, is "jsn"; did you mean "json"?'],
    [{ memory: 'yes' }, 'FILE: memory must be true or false, is "yes"'],
    [{ nonces: { mx: 1 } }, 'FILE: unknown key nonces.mx; did you mean "max"?'],
    [{ nonces: 5 }, 'FILE: nonces must be an object'],
    [{ users: 5 }, 'FILE: users must be an object, is 5'],
    [{ users: { ann: { secrt: 'x' } } }, 'FILE: secrt is not a member of users.ann; did you mean "secret"?'],
    [{ users: { ann: { secret: '' } } }, 'FILE: users.ann.secret must be non-empty text'],
    [{ users: { ann: {} } }, 'FILE: users.ann.secret must be non-empty text, is missing'],
    [
      { quota: { requests: 0, window: '1h' } },
      'FILE: requests of quota must be a whole number from 1 to 1000000000, is 0',
    ],
    [
      { schemes: { own: { preset: 'strip' } } },
      'FILE: schemes.own.preset must be a preset, is "strip"; did you mean "stripe"?',
    ],
    [
      { clients: { app: { secret: 's', grnts: [] } } },
      'FILE: grnts is not a member of clients.app; did you mean "grants"?',
    ],
    [{ clients: { app: 5 } }, 'FILE: clients.app must be an object, is 5'],
    [
      { collections: { '/a': { element: 'a', item: 'b', fieds: {} } } },
      'FILE: collections./a.fieds: is not a key of a collection; did you mean "fields"?',
    ],
    [{ corsOrigin: [5] }, 'FILE: corsOrigin[0] must be non-empty text, is 5'],
    [{ trustProxy: 5 }, 'FILE: trustProxy must be a list of networks, is 5'],
    [{ config: 'x.json' }, 'FILE: config is not allowed in a configuration file'],
    [
      { hmac: { requireBodyDigset: true } },
      'FILE: unknown key hmac.requireBodyDigset; did you mean "requireBodyDigest"?',
    ],
    [{ port: 1, tlsPort: 1 }, '--port and --tls-port are both 1'],
    [[], 'FILE: the file must contain a JSON object'],
    ['null', 'FILE: the file must contain a JSON object'],
    ['{\n "port": 1,\n}', 'FILE: Line 3, column 1: found "}", expected a member name in double quotes'],
    ['{ "port": 1, "port": 2 }', 'FILE: Line 1, column 14: found a duplicate member name'],
    [{ users: { ann: { secret: 's', password: 1 } } }, 'FILE: users.ann.password must be non-empty text'],
    [
      { users: { ann: { secret: 's', password: 'p\t' } } },
      'FILE: users.ann.password contains a control character, which no client can send',
    ],
    [{ users: { '': { secret: 's' } } }, 'FILE: users.: a user name must have 1 to 128 bytes'],
    [
      { users: { 'a\nb': { secret: 's' } } },
      'FILE: users.a\\nb: a user name must have no control characters',
    ],
    [
      { users: { ['é'.repeat(65)]: { secret: 's' } } },
      'FILE: users.ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé: a user name must have 1 to 128 bytes',
    ],
    [
      { lifetimes: { access: 0 } },
      'FILE: lifetimes.access must be a whole number of seconds from 1 to 31536000 or text such as 5m, is 0',
    ],
    [{ clients: [] }, 'FILE: clients must be an object, is an array'],
    [
      { clients: { 'a\nb': {} } },
      'FILE: clients.a\\nb needs an id of 1 to 128 printable ASCII characters without a colon',
    ],
    [
      { clients: { app: { secret: 's', redirectUris: ['/cb'] } } },
      'FILE: clients.app.redirectUris[0] is not an absolute URI without a fragment',
    ],
    [
      { consumers: { key: { secret: [] } } },
      'FILE: consumers.key.secret must be a text of at least one character',
    ],
    [{ collections: [] }, 'FILE: collections must be an object'],
    [{ seed: { '/articles': {} } }, 'FILE: seed./articles must be an array of items'],
    [{ cors: { origin: [] } }, 'FILE: unknown key cors.origin; did you mean "origins"?'],
    [{ cors: 'https://app.example' }, 'FILE: cors must be an object'],
  ],
  createService: [
    [5, 'the options of a service must be an object, is 5'],
    [
      { prot: 1 },
      'prot is not an option of a service; known are clock, random, store, users, collections, seed, resources, realm, window, notBefore, hmacSimple, requireBodyDigest, schemes, clients, oauth2, signingKeys, consumers, lifetimes, publicUrl, masterKey, nonces, maxNonces, maxNoncesPerUser, idempotencyLifetime, maxIdempotencyKeysPerUser, maxAuthFailures, quota, trustProxy, basePath, cors, explain, defaultFormat, strictQuery, openapi, limits, health, requestId, onRequest, observer, onError',
    ],
    [{ explain: 'yes' }, 'explain must be true or false, is a string'],
    [{ defaultFormat: 'jsn' }, 'defaultFormat must be one of xml, json, is "jsn"; did you mean "json"?'],
    [{ limits: { bdy: 1 } }, 'bdy is not a member of limits; did you mean "body"?'],
    [{ limits: { body: -1 } }, 'limits.body must be a number from 0, is -1'],
    [{ health: { path: '/a/' } }, 'health.path must be a path such as /health, without a slash at the end'],
    [{ users: { a: {} } }, 'secret of the user "a" must be non-empty text, is missing'],
    [{ clients: { app: 5 } }, 'clients.app must be an object, is 5'],
    [{ quota: 5 }, 'quota must be such as { "requests": 1000, "window": "1h" } or "1000/1h"'],
    [{ window: 'x' }, "window is not a number of seconds from 0 to 31536000, or text such as '10m'"],
    [
      { users: { ann: { secrets: [], password: { hash: 'pw' } } } },
      'the password hash of the user "ann" is not a scrypt hash',
    ],
    [
      { users: { ann: { secret: 'ann-secret', password: '' } } },
      'password of the user "ann" must be non-empty text',
    ],
    [
      { users: { ann: { secrets: [], password: { plain: '' } } } },
      'password.plain of the user "ann" must be non-empty text',
    ],
    [
      { users: { ann: { secret: 'ann-secret', disabled: 'true' } } },
      'disabled of the user "ann" must be true or false, is a string',
    ],
    [{ window: Number.NaN }, "window is not a number of seconds from 0 to 31536000, or text such as '10m'"],
    [{ window: -1 }, "window is not a number of seconds from 0 to 31536000, or text such as '10m'"],
    [{ hmacSimple: 'never' }, 'hmacSimple is not one of safe, all, off'],
    [{ maxAuthFailures: -1 }, 'the limit of failed authentications must be an integer of at least 0'],
    [{ maxAuthFailures: Number.NaN }, 'the limit of failed authentications must be an integer of at least 0'],
    [{ realm: 'two\r\nlines' }, 'A quoted string cannot contain the character at index 3'],
    [{ trustProxy: ['everybody'] }, '"everybody" is not a network such as 10.0.0.0/8 or fd00::/8'],
    [
      { idempotencyLifetime: '0s' },
      "idempotencyLifetime is not a number of seconds from 1 to 31536000, or text such as '10m'",
    ],
    [
      { notBefore: 'yesterday' },
      "notBefore is not a time such as '2026-03-01T12:00:00Z', a Date or ms since 1970",
    ],
    [
      { cors: 'https://app.example' },
      'cors: must be a list of origins such as https://app.example, or an object with origins',
    ],
    [
      { cors: ['https://app.example/'] },
      'cors.origins: "https://app.example/" has a trailing slash; write https://app.example',
    ],
    [{ cors: [1] }, 'cors.origins[0]: must be an origin such as https://app.example, is 1'],
    [{ cors: {} }, 'cors.origins: must be a list of origins such as https://app.example, is missing'],
    [{ cors: { origin: [] } }, 'cors.origin: is not known; did you mean "origins"?'],
    [{ cors: { origins: [], credentials: 'no' } }, 'cors.credentials: must be true or false, is a string'],
    [
      { cors: { origins: [], maxAge: -1 } },
      'cors.maxAge: must be a whole number of seconds from 0 to 86400 or text such as 5m, is -1',
    ],
    [{ cors: ['*', 'https://app.example'] }, 'cors.origins: "*" includes all origins; remove the others'],
    [
      { cors: { origins: ['*'], credentials: true } },
      'cors.origins: "*" is impossible with credentials; write each origin',
    ],
    [
      { resources: { '/own': { GET: action('anyone', handler), cors: {} } } },
      'cors of the resource at /own.origins: must be a list of origins such as https://app.example, is missing',
    ],
    [
      { resources: { '/own': { GET: action('anyone', handler), requestHeaders: ['a b'] } } },
      'requestHeaders[0] of the resource at /own is not a field name',
    ],
  ],
  startDouble: [
    [5, 'the options of a double must be an object, is 5'],
    [{ prot: 1 }, 'prot is not an option of a double; did you mean "port"?'],
    [{ port: '1' }, 'port must be an integer from 0 to 65535, is a string'],
    [{ https: 1 }, 'https must be true or false, is 1'],
    [{ tls: 'requird' }, 'tls must be one of assumed, required, is "requird"; did you mean "required"?'],
    [{ journal: { entris: 1 } }, 'entris is not a member of journal; did you mean "entries"?'],
    [{ stubs: {} }, 'stubs must be a list of stubs, is an object'],
    [{ stubs: [{ mach: {} }] }, 'mach is not a member of a stub; did you mean "match"?'],
    [{ users: 5 }, "users must be an object such as { johndoe: {} } or ['johndoe'], is 5"],
    [
      { users: { bob: 's3cret-value' } },
      'the user "bob" must be an object such as { "secret": "…" }, is a string',
    ],
    [{ pendingFaults: 'throw' }, 'pendingFaults must be one of ignore, error, is "throw"'],
    [{ lifetimes: { acess: 1 } }, 'acess is not a member of lifetimes; did you mean "access"?'],
    [
      { aliases: 'http://example.com' },
      "aliases must be a list of origins such as ['http://example.com'], is a string",
    ],
    [{ aliases: [80] }, 'an alias must be an origin such as http://example.com, is a number'],
    [{ aliases: ['example.com'] }, '"example.com" is not an origin such as http://example.com'],
    [
      { aliases: ['http://Example.com/'] },
      '"http://Example.com/" is not an origin; did you mean "http://example.com"?',
    ],
    [{ securePort: 65_536 }, 'securePort must be an integer from 0 to 65535, is 65536'],
    [{ port: 8080, securePort: 8080 }, 'port and securePort are both 8080'],
    [{ https: false, securePort: 8443 }, 'securePort requires HTTPS, which is disabled'],
  ],
  user: [
    [5, 'the user "bob" must be an object such as { "secret": "…" }, is 5'],
    [{ secrt: 'x' }, 'secrt is not a member of the user "bob"; did you mean "secret"?'],
    [{ secret: 5 }, 'secret of the user "bob" must be non-empty text'],
    [
      { keys: { k: { algorithm: 'ed2551', publicKey: 'x' } } },
      '"ed2551" is not an algorithm of keys.k of the user "bob"; did you mean "ed25519"?',
    ],
  ],
  scheme: [
    [5, 'schemes.own must be an object, is 5'],
    [{ user: 5 }, 'schemes.own.user must be an object, is 5'],
    [
      { user: { field: 'X-User' }, signature: { field: 'X-Sig' }, message: [] },
      'schemes.own.message must be non-empty text, is an array',
    ],
    [{ secret: { feld: 'X-Key' } }, 'feld is not a member of schemes.own.secret; did you mean "field"?'],
    [{ secret: { field: 'a b' } }, 'schemes.own.secret.field must be a field name, is "a b"'],
    [
      { preset: 'stripe', window: 'x' },
      'window is not a member of schemes.own; known are preset, timestamp, replay, user',
    ],
    [{ preset: 'stripe', user: {} }, 'schemes.own.user must have one of field, query, json, form'],
    [
      { message: '{body}', user: 'ann', signature: { field: 'X-Sig' }, algorithm: 'hmac-sha25' },
      'schemes.own.algorithm must be one of hmac, ed25519, ecdsa-p256, rsa-pss, rsa-v1_5, digest, is "hmac-sha25"',
    ],
    [
      {
        message: '{body}',
        user: 'ann',
        signature: { field: 'X-Sig' },
        timestamp: { field: 'X-Time', format: 'isoo' },
      },
      'format is not a member of schemes.own.timestamp; did you mean "form"?',
    ],
  ],
  aws4: [
    [5, 'schemes.aws4 must be an object, is 5'],
    [{ windw: 5 }, 'windw is not a member of schemes.aws4; did you mean "window"?'],
    [
      { window: 'x' },
      'schemes.aws4.window must be a whole number of seconds from 1 to 86400 or text such as 5m, is a string',
    ],
    [{ plusInPath: 5 }, 'schemes.aws4.plusInPath must be one of space, plus, is 5'],
  ],
  'message-signatures': [
    [
      { nonce: 'of' },
      'schemes.message-signatures.nonce must be one of off, optional, required, is "of"; did you mean "off"?',
    ],
    [{ components: [] }, 'schemes.message-signatures.components must be a list with at least one component'],
    [{ tag: 5 }, 'schemes.message-signatures.tag must be a text of printable ASCII characters, is 5'],
    [
      { structuredFields: { a: 'lst' } },
      'schemes.message-signatures.structuredFields.a must be one of item, list, dictionary, is "lst"; did you mean "list"?',
    ],
    [{ signResponses: { key: 5 } }, 'schemes.message-signatures.signResponses.key must be an object, is 5'],
    [
      { signResponses: { key: { id: 'a', algorithm: 'ed25519', secret: 's' } } },
      'schemes.message-signatures.signResponses.key.secret: a key for ed25519 has privateKey instead',
    ],
  ],
  'draft-cavage': [
    [
      { replay: 'acept' },
      'schemes.draft-cavage.replay must be one of accept, refuse, is "acept"; did you mean "accept"?',
    ],
    [{ headers: [5] }, 'schemes.draft-cavage.headers[0] must be non-empty text, is 5'],
  ],
  defineScheme: [
    [5, 'definition must be an object, is 5'],
    [{ prse: 1 }, 'prse is not a member of definition; did you mean "parse"?'],
    [{ parse: 1 }, 'definition.parse must be a function, is 1'],
  ],
  collection: [
    [5, 'collections./orders: must be an object, is 5'],
    [
      { element: 'a', item: 'b', fieds: {} },
      'collections./orders.fieds: is not a key of a collection; did you mean "fields"?',
    ],
    [
      { element: 'a', item: 'b', fields: { a: { type: 'txt' } } },
      'collections./orders.fields.a.type: "txt" is not a field type; did you mean "text"?',
    ],
    [{ element: 5, item: 'b', fields: {} }, 'collections./orders.element: must be non-empty text, is 5'],
  ],
  resource: [
    [5, "the resource at /r must be an object such as { GET: action('anyone', …) }, is 5"],
    [{ GTE: {} }, 'GTE is not a member of the resource at /r; did you mean "GET"?'],
    [undefined, "the resource at /r must be an object such as { GET: action('anyone', …) }, is missing"],
    [
      { GET: { access: 'everyone', handle: handler } },
      'access of GET of the resource at /r must be an access rule, is "everyone"; known are anyone, authenticated, nobody',
    ],
    [{ GET: 5 }, "GET of the resource at /r must be an object such as action('anyone', …), is 5"],
  ],
  'resource of a user': [
    [
      { GET: action('owner:nam', handler) },
      'access of GET of the resource at /users/{name} must be an access rule, is "owner:nam"; did you mean "owner:name"?',
    ],
  ],
  stub: [
    [5, "a match must be an object or a function such as { path: '/articles' }, is 5"],
    [{ pth: '/' }, 'pth is not a member of a match; did you mean "path"?'],
    [{ path: 5 }, 'path of a match must be text or a regular expression, is 5'],
    [{ scheme: 5 }, 'scheme of a match must be text, is 5'],
    [{ query: 5 }, "query of a match must be an object such as { limit: '1' }, is 5"],
    [{ query: { a: 5 } }, 'query.a of a match must be text, a regular expression or null, is 5'],
    [{ method: 5 }, 'method of a match must be a method such as GET, or a list of methods, is 5'],
    [{ user: 5 }, 'user of a match must be the name of a user, is 5'],
  ],
  'options of a stub': [
    [{ tims: 1 }, 'tims is not an option of a stub; did you mean "times"?'],
    [{ times: 0 }, 'times must be an integer from 1, is 0'],
    [{ fallback: 1 }, 'fallback must be true or false, is 1'],
    [
      { access: 'anyon' },
      'access of GET of the resource at / must be an access rule, is "anyon"; did you mean "anyone"?',
    ],
    [
      { schemes: 5 },
      "schemes of the stub for any method any path must be a list of names, such as ['oauth']",
    ],
  ],
  'response of a stub': [
    [5, 'the response of a stub must be an object such as { status: 201, body: { id: 1 } }, is 5'],
    [{ stauts: 1 }, 'stauts is not a member of the response of a stub; did you mean "status"?'],
    [{ status: '200' }, 'status of the response of a stub must be an integer from 200 to 599, is a string'],
  ],
  fault: [
    [5, 'a fault must be an object such as { status: 503 }, is 5'],
    [{ stauts: 503 }, 'stauts is not a member of a fault; did you mean "status"?'],
    [{ status: 5 }, 'status of a fault must be an integer from 200 to 599, is 5'],
    [{ close: 1 }, 'close of a fault must be true or false, is 1'],
    [
      { delay: 'x' },
      'delay of a fault must be a number of ms from 0 to 2147483647 or text such as 2s, is a string',
    ],
  ],
  'match of a fault': [
    [async () => true, 'the function of a match must return true or false, and it is asynchronous'],
    [{ method: 'get' }, 'method of a match must be a method in upper case, is "get"; did you mean "GET"?'],
    [
      { path: 'articles' },
      'path of a match must begin with a slash, is "articles"; did you mean "/articles"?',
    ],
    [
      { path: '/articles/{id' },
      'path of a match must be a template such as /articles/{id}, is "/articles/{id"',
    ],
    [{ user: 'an' }, 'the double has no user an; did you mean "ann"?'],
    [{ headers: {} }, 'headers of a match must have a member'],
    [{ headers: { 'X Foo': 'bar' } }, 'headers.X Foo of a match is not the name of a field'],
  ],
  'match of a stale certificate': [
    [() => true, 'staleCertificate cannot have a match, since there is no request yet'],
  ],
  'match without a fault': [
    [{ status: 503 }, 'the fault is missing; the match comes first, such as next({}, { status: 503 })'],
  ],
  event: [
    [
      'token-reuse',
      'the event must be one of request, token-issued, token-revoked, token-reused, nonce-replayed, is "token-reuse"; did you mean "token-reused"?',
    ],
  ],
  listener: [[undefined, 'the listener of an event must be a function, is missing']],
  journal: [
    [5, "a match must be an object or a function such as { path: '/articles' }, is 5"],
    [{ stauts: 1 }, 'stauts is not a member of a match; did you mean "status"?'],
    [{ status: '1' }, 'status of a match must be an integer from 100 to 599, is a string'],
    [
      { problem: 'not-fund' },
      'problem of a match must be a problem type, is "not-fund"; did you mean "not-found"?',
    ],
    [{ user: 'an' }, 'the double has no user an; did you mean "ann"?'],
    [
      { path: '/articles?limit=1' },
      'path of a match must not have a query or fragment, is "/articles?limit=1"; did you mean "/articles"?',
    ],
    [{ method: ['GET', 'patch'] }, 'method[1] of a match must be a method in upper case, is "patch"'],
    [{ method: [] }, 'method of a match must be a method such as GET, or a list of methods, is an array'],
  ],
  waitFor: [
    [
      { timeout: Number.POSITIVE_INFINITY },
      'timeout must be a number of ms from 0 to 2147483647 or text such as 2s, is Infinity',
    ],
    [{ after: 1 }, 'after must be an entry of the journal, is 1'],
    [5, 'the options of waitFor must be an object, is 5'],
    [{ timout: 1 }, 'timout is not an option of waitFor; did you mean "timeout"?'],
    [{ timeout: 'x' }, 'timeout must be a number of ms from 0 to 2147483647 or text such as 2s, is a string'],
  ],
  as: [
    [5, "the options of as must be an object such as { scheme: 'basic' }, is 5"],
    [{ schme: 'basic' }, 'schme is not an option of as; did you mean "scheme"?'],
    [{ form: 'ful' }, 'form must be one of full, simple, is "ful"; did you mean "full"?'],
    [{ signBody: 1 }, 'signBody must be true or false, is 1'],
    [{ secret: 5 }, 'secret must be text, is 5'],
    [{ scheme: 'bsic' }, 'scheme must be the name of a scheme, is "bsic"; did you mean "basic"?'],
    [
      { scheme: 'digest' },
      'scheme must be the name of a scheme, is "digest"; known are hmac, basic, bearer, oauth1',
    ],
    [{ scheme: 'basic', nonce: 'n' }, 'nonce is an option of the scheme hmac or oauth1, not of basic'],
    [{ password: 's3cret' }, 'password is an option of the scheme basic, not of hmac'],
    [{ scheme: 'oauth1', secret: 's3cret' }, 'secret is an option of the scheme hmac, not of oauth1'],
    [
      { form: 'simple', date: '2020-01-01T00:00:00Z' },
      'date is an option of the full form; the simple form has neither a nonce nor a date',
    ],
    [
      { scheme: 'bearer', token: 't', client: 'app' },
      'token and client exclude each other: a token belongs to a client already',
    ],
  ],
  fetch: [
    [5, "the options of fetch must be an object such as { method: 'PUT' }, is 5"],
    [{ methd: 'PUT' }, 'methd is not an option of fetch; did you mean "method"?'],
    [{ peer: 5 }, 'peer must be text, is 5'],
  ],
  issueToken: [
    [5, "a token to issue must be an object such as { user: 'johndoe' }, is 5"],
    [{ usr: 'ann' }, 'usr is not a member of a token to issue; did you mean "user"?'],
    [{ user: 'ann', refresh: 1 }, 'refresh of a token to issue must be true or false, is 1'],
  ],
  approve: [
    [{ usr: 'ann' }, 'usr is not a member of an approval; did you mean "user"?'],
    [
      { user: 'ann', decision: 'alow' },
      'decision of an approval must be one of allow, deny, is "alow"; did you mean "allow"?',
    ],
  ],
  revokeTokens: [
    [5, "a token filter must be an object such as { client: 'app' }, is 5"],
    [{ clent: 'a' }, 'clent is not a member of a token filter; did you mean "client"?'],
    [
      { kind: 'acess' },
      'kind of a token filter must be one of access, refresh, code, request, ticket, is "acess"; did you mean "access"?',
    ],
    [undefined, "a token filter must be an object such as { client: 'app' }, is missing"],
    [{ client: 'ap' }, 'the double has no client ap; did you mean "app"?'],
    [{ user: 'an' }, 'the double has no user an; did you mean "ann"?'],
  ],
  rotateSecret: [
    ['a-new-s3cret', 'a rotation must be an object such as { secret: … }, is a string'],
    [{ secrt: 'x' }, 'secrt is not a member of a rotation; did you mean "secret"?'],
  ],
  openControl: [
    [{ prot: 1 }, 'prot is not an option of openControl; did you mean "port"?'],
    [{ port: 'x' }, 'port must be an integer from 0 to 65535, is a string'],
  ],
  'control fault': [
    [5, '422 the content must be an object, is 5.'],
    [{ falt: {} }, '422 falt is not a member of the content; did you mean "fault"?'],
    [
      { fault: { stauts: 503 } },
      '422 stauts is not a member of fault of the content; did you mean "status"?',
    ],
    [{ fault: { status: 5 } }, '422 fault.status of the content must be an integer from 200 to 599, is 5.'],
    [
      { match: { pth: '/' }, fault: { status: 503 } },
      '422 pth is not a member of match of the content; did you mean "path"?',
    ],
  ],
  'control stub': [
    [{ match: { path: 5 }, response: {} }, '422 match.path of the content must be text, is 5.'],
    [
      { match: {}, response: { stauts: 200 } },
      '422 stauts is not a member of response of the content; did you mean "status"?',
    ],
    [{ match: {} }, '422 response of the content must be an object, is missing.'],
  ],
  'control clock': [
    [{ by: 'x' }, "422 \"x\" is not a duration such as 1500, '90s', '11m' or '-24h'"],
    [{ bye: 1 }, '422 bye is not a member of the content; did you mean "by"?'],
    [{}, '422 by of the content must be a number or text, is missing.'],
  ],
  partner: [
    [5, '#/paths/~1orders/get: must be an object, is a number'],
    [{ responses: 5 }, '#/paths/~1orders/get/responses: must be an object, is a number'],
    [
      {
        responses: {
          '200': { description: 'ok', content: { 'application/json': { schema: { type: 'strin' } } } },
        },
      },
      'accepted',
    ],
  ],
  'options of a partner': [
    [5, 'partner must be an object or the path of a file, is 5'],
    [{ document: 5 }, 'document must be a document or the path of a file, is 5'],
    [{ document: {}, validaton: 1 }, 'validaton is not an option of partner; did you mean "validation"?'],
    [
      { document: {}, validation: 'of' },
      'validation must be one of on, warn, off, is "of"; did you mean "on"?',
    ],
    [
      { document: {}, validation: { reqest: 'off' } },
      'reqest is not a member of validation; did you mean "request"?',
    ],
    [{ document: {}, strict: 1 }, 'strict must be true or false, is 1'],
  ],
  item: [
    [5, '422 article must be an object of fields, is the number 5.'],
    [{ titel: 'x' }, '422 3 errors. titel is not known here; did you mean "title"?'],
    [{ title: 5 }, '422 2 errors. title must be a JSON string, is the number 5.'],
  ],
  signRequest: [
    [5, 'options must be an object, is 5'],
    [{ url: 'http://api.example/', usr: 'a' }, 'usr is not a member of options; did you mean "user"?'],
    [{ url: 'http://api.example/', user: 'a' }, 'options.secret must be non-empty text, is missing'],
    [
      { url: 'http://api.example/', user: 'a', secret: 'b', form: 'ful' },
      'options.form must be one of full, simple, is "ful"; did you mean "full"?',
    ],
    [
      { url: 'http://api.example/', user: 'a', secret: 'b', signBody: 1 },
      'options.signBody must be true or false, is 1',
    ],
  ],
  createSigner: [
    [5, 'credentials must be an object, is 5'],
    [{ usr: 'a' }, 'usr is not a member of credentials; did you mean "user"?'],
    [{ user: 5, secret: 'x' }, 'credentials.user must be text, is 5'],
    [{ scheme: 'hmc', user: 'a' }, 'scheme must be an object; did you mean "hmac"?'],
    [
      { scheme: { type: 'aws4', key: {} } },
      'key is not a member of scheme; known are region, service, window, normalizePath, doubleEncode, plusInPath, unsignedPayload, errors, replay, accessKeyId, secret, sessionToken, presign',
    ],
    [
      { scheme: { preset: 'github', usr: 1 }, secret: 's' },
      'usr is not a member of scheme; did you mean "user"?',
    ],
  ],
  createAttempts: [
    [5, 'the options of createAttempts must be an object, is 5'],
    [{ windw: 1 }, 'windw is not an option of createAttempts; did you mean "window"?'],
    [{ window: 'x' }, 'window must be a number of seconds or text such as "5m"'],
  ],
};

/** Returns the sentences of the error of a call. */
async function explain(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    assert.ok(error instanceof Error);
    const sentences = error instanceof OptionsError ? error.faults : [error.message];
    return sentences.join('\n').replaceAll(file, 'FILE');
  }
  return 'accepted';
}

test('a wrong value is refused in the same words at every border', async (context) => {
  await using double = await startDouble({ users, clients });
  for (const [border, values] of Object.entries(rows))
    for (const [value, sentence] of values)
      await context.test(`${border}: ${JSON.stringify(value)}`, async () => {
        assert.equal(await explain(() => borders[border]?.(value, double)), sentence);
      });
  assert.ok(!existsSync(data), 'a command that is refused creates nothing');
});
