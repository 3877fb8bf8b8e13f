// Mistakes of clients, each made as such a client makes it over a socket. The first line of the journal's entry names the mistake.
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import {
  annSecret,
  contentDigest,
  date,
  formerSecret,
  hmac,
  json,
  type Mistake,
  post,
  right,
  secret,
  sha256,
  stamp,
  target,
  testMistakes,
  typed,
} from '../../support/double/mistakes.ts';

/** The 25 mistakes that clients make most often. */
const usual: readonly Mistake[] = [
  ['sends the method in lower case', { method: 'get' }, /case-sensitive.*get was sent instead of GET/],
  [
    'appends a line feed to the digest',
    { credentials: 'hmac johndoe:NONCE:DIGEST\n' },
    /Authentication ends with a line feed/,
  ],
  [
    'uses the secret of another user',
    { sign: (message) => hmac(message, annSecret) },
    /secret of another user, ann$/,
  ],
  [
    'is behind a proxy that sets Date',
    { date: 'Sun, 01 Mar 2026 12:00:02 GMT', message: right },
    /a date 2 s earlier was signed than the one that arrived: a proxy/,
  ],
  [
    'sends the Content-MD5 of another body',
    {
      ...post,
      headers: [...typed, ['Content-MD5', createHash('md5').update('other content').digest('base64')]],
      body: json,
      message: `POST+/articles+${stamp}+NONCE+${createHash('md5').update('other content').digest('base64')}`,
    },
    /digest in Content-MD5: the digest is that of other content.*68 bytes/,
  ],
  [
    'sends the Content-Digest of another body',
    {
      ...post,
      headers: [...typed, ['Content-Digest', `sha-256=:${sha256(JSON.stringify(JSON.parse(json)))}:`]],
      body: json,
      message: `POST+/articles+${stamp}+NONCE+sha-256=:${sha256(JSON.stringify(JSON.parse(json)))}:`,
    },
    /the JSON was parsed and serialized again before it was signed/,
  ],
  [
    'appends the credentials to those of an earlier attempt with Headers.append',
    async (double) => {
      const headers = new Headers({ date, authentication: `hmac johndoe:n-1:${hmac('x')}` });
      headers.append('authentication', `hmac johndoe:n-2:${hmac('y')}`);
      await fetch(double.url + target, { headers });
    },
    /sent twice and joined with a comma \(Headers\.append\?\)/,
  ],
  [
    'signs a digest of the content and does not send it',
    { ...post, headers: typed, body: json, message: `POST+/articles+${stamp}+NONCE+${contentDigest}` },
    /the sha256 digest of the content was signed, but no Content-Digest was sent/,
  ],
  [
    'signs the target before the method',
    { message: `${target}+GET+${stamp}+NONCE` },
    /another order: target, method, date, nonce/,
  ],
  [
    'signs the date first',
    { message: `${stamp}+NONCE+GET+${target}` },
    /another order: date, nonce, method, target/,
  ],
  [
    'signs the host without its port',
    { message: `GET+http://127.0.0.1${target}+${stamp}+NONCE` },
    /host was signed with the path, with 127\.0\.0\.1 instead of 127\.0\.0\.1:8080/,
  ],
  [
    'signs the absolute URL',
    { message: `GET+http://127.0.0.1:8080${target}+${stamp}+NONCE` },
    /host was signed with the path/,
  ],
  [
    'signs the public host in front of a proxy',
    {
      message: `GET+https://api.example.com${target}+${stamp}+NONCE`,
      headers: [['X-Forwarded-Host', 'api.example.com']],
    },
    /public host was signed with the path, in front of a proxy/,
  ],
  [
    'uses the former secret after a rotation',
    { sign: (message) => hmac(message, formerSecret) },
    /former secret of johndoe, which was replaced/,
  ],
  [
    'sends the digest in hexadecimal',
    { sign: (message) => createHmac('sha256', secret).update(message).digest('hex') },
    /it is hexadecimal; base64 is expected/,
  ],
  ['sends the digest in base64url', { sign: () => '-_'.repeat(21).concat('A=') }, /it is base64url/],
  ['leaves the query out', { message: `GET+/articles+${stamp}+NONCE` }, /the query was left out/],
  [
    'signs other percent-encodings',
    { target: '/articles?q=b%20c', message: `GET+/articles?q=b+c+${stamp}+NONCE` },
    /space in the query was "\+"/,
  ],
  [
    'signs a trailing slash',
    { message: `GET+/articles/?limit=2&sort=title+${stamp}+NONCE` },
    /there was a trailing slash/,
  ],
  [
    'sends the date of its time zone',
    { date: '01 mar 2026 13:00:00', message: `GET+${target}+01mar202613:00:00+NONCE` },
    /date is 3600 s ahead of the server's clock.*exactly 1 hour: probably a time zone/,
  ],
  [
    'uses a nonce twice',
    async (double) => {
      const headers = await double.as('johndoe').signRequest({ url: double.url + target });
      await fetch(double.url + target, { headers });
      await fetch(double.url + target, { headers });
    },
    /nonce-replayed.*The user has already used this nonce/,
  ],
  [
    'sends an expired request',
    { date: '01 mar 2026 11:45:00', message: `GET+${target}+01mar202611:45:00+NONCE` },
    /date is 900 s behind the server's clock/,
  ],
  [
    'decodes the secret from base64',
    { sign: (message) => hmac(message, Buffer.from(secret, 'base64')) },
    /secret was decoded from base64/,
  ],
  [
    'uses SHA-1',
    { sign: (message) => hmac(message, secret, 'sha1') },
    /length of SHA-1; SHA-256 is expected/,
  ],
  ['hashes without HMAC', { sign: (message) => sha256(message) }, /plain hash of the message, without HMAC/],
];

test('the list contains 25 mistakes', () => {
  assert.equal(usual.length, 25);
});

testMistakes(usual);
