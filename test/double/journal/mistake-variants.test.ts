// Variants of the mistakes in mistakes.test.ts.
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import {
  contentDigest,
  date,
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

/** Fifty variants of these mistakes. */
const variants: readonly Mistake[] = [
  ['uses SHA-512', { sign: (message) => hmac(message, secret, 'sha512') }, /length of SHA-512/],
  ['uses SHA-384', { sign: (message) => hmac(message, secret, 'sha384') }, /length of SHA-384/],
  [
    'joins the parts with line feeds',
    { message: `GET\n${target}\n${stamp}\nNONCE` },
    /joined with line feeds/,
  ],
  ['joins the parts with |', { message: `GET|${target}|${stamp}|NONCE` }, /joined with "\|"/],
  ['joins the parts with commas', { message: `GET,${target},${stamp},NONCE` }, /joined with ","/],
  ['leaves the spaces in the date', { message: `GET+${target}+${date}+NONCE` }, /spaces were not removed/],
  [
    'signs the method in lower case',
    { message: `get+${target}+${stamp}+NONCE` },
    /method was signed in lower case/,
  ],
  ['signs GET and sends HEAD', { method: 'HEAD', message: right }, /GET was signed, but HEAD arrived/],
  ['signs a trailing line feed', { message: `${right}\n` }, /line feed was signed at the end/],
  ['signs a trailing +', { message: `${right}+` }, /"\+" was signed at the end/],
  ['leaves the nonce out', { message: `GET+${target}+${stamp}` }, /nonce was left out/],
  ['leaves the date out', { message: `GET+${target}+NONCE` }, /date was left out/],
  ['leaves date and nonce out', { message: `GET+${target}` }, /date and nonce were left out/],
  ['swaps date and nonce', { message: `GET+${target}+NONCE+${stamp}` }, /date and nonce were swapped/],
  ['signs the user too', { message: `johndoe+${right}` }, /the user was signed too/],
  [
    'signs the host too',
    { message: `GET+127.0.0.1:8080+${target}+${stamp}+NONCE` },
    /the host was signed too/,
  ],
  [
    'signs the Content-Type too',
    { ...post, headers: typed, body: json, message: `POST+/articles+${stamp}+NONCE+application/json` },
    /the Content-Type was signed too/,
  ],
  [
    'signs the content instead of its digest',
    { ...post, headers: typed, body: json, message: `POST+/articles+${stamp}+NONCE+${json}` },
    /content itself was signed/,
  ],
  [
    'signs the bare digest',
    {
      ...post,
      headers: [...typed, ['Content-Digest', contentDigest]],
      body: json,
      message: `POST+/articles+${stamp}+NONCE+${sha256(json)}`,
    },
    /bare digest of the content was signed/,
  ],
  [
    'does not sign the Content-Digest that it sends',
    {
      ...post,
      headers: [...typed, ['Content-Digest', contentDigest]],
      body: json,
      message: `POST+/articles+${stamp}+NONCE`,
    },
    /content digest was left out/,
  ],
  [
    'digests the content without its line feed',
    {
      ...post,
      headers: [...typed, ['Content-Digest', `sha-256=:${sha256(json.trim())}:`]],
      body: json,
      message: `POST+/articles+${stamp}+NONCE+sha-256=:${sha256(json.trim())}:`,
    },
    /the content was signed without the line feed at its end/,
  ],
  [
    'sends the digest of no content',
    {
      ...post,
      headers: [...typed, ['Content-Digest', `sha-256=:${sha256('')}:`]],
      body: json,
      message: `POST+/articles+${stamp}+NONCE+sha-256=:${sha256('')}:`,
    },
    /the digest is that of no content/,
  ],
  [
    'sends a bare base64 Content-Digest',
    { ...post, headers: [...typed, ['Content-Digest', sha256(json)]], body: json },
    /bare base64; send sha-256=:BASE64:/,
  ],
  [
    'appends the date with Headers.append',
    async (double) => {
      const headers = new Headers({ date, authentication: `hmac johndoe:n-1:${hmac('x')}` });
      headers.append('date', date);
      await fetch(double.url + target, { headers });
    },
    /sent twice and joined with a comma \(Headers\.append\?\)/,
  ],
  [
    'appends Content-Digest with Headers.append',
    {
      ...post,
      headers: [
        ...typed,
        [
          'Content-Digest',
          `sha-512=:${createHash('sha512').update(json).digest('base64')}:, ${contentDigest}`,
        ],
      ],
      body: json,
      message: `POST+/articles+${stamp}+NONCE+${contentDigest}`,
    },
    /Content-Digest was sent twice and joined/,
  ],
  ['sends the date in ISO 8601', { date: '2026-03-01T12:00:00Z' }, /ISO 8601/],
  ['sends the date as a number', { date: '1772366400' }, /number of seconds/],
  [
    'signs the date in ISO 8601',
    { message: `GET+${target}+2026-03-01T12:00:00Z+NONCE` },
    /signed in ISO 8601 format, not as it was sent/,
  ],
  [
    'signs the date as a number',
    { message: `GET+${target}+1772366400+NONCE` },
    /signed as a number of seconds, not as it was sent/,
  ],
  ['capitalizes the month', { message: `GET+${target}+01Mar202612:00:00+NONCE` }, /different letter case/],
  [
    'signs local time and sends UTC',
    { message: `GET+${target}+01mar202617:30:00+NONCE` },
    /19800 s later was signed.*another time zone/,
  ],
  [
    'is behind a proxy that sets Date in another format',
    { date: 'Sun, 01 Mar 2026 12:00:01 GMT', message: right },
    /1 s earlier was signed/,
  ],
  [
    'signs the path that a proxy shortened',
    { message: `GET+/api${target}+${stamp}+NONCE` },
    /prefix that a proxy removed: \/api/,
  ],
  [
    'signs the host of Forwarded',
    {
      message: `GET+https://shop.example${target}+${stamp}+NONCE`,
      headers: [['Forwarded', 'for=1.2.3.4;host=shop.example']],
    },
    /public host was signed/,
  ],
  [
    'sorts the parameters',
    { target: '/articles?b=2&a=1', message: `GET+/articles?a=1&b=2+${stamp}+NONCE` },
    /sorted/,
  ],
  [
    'signs the parameters in another order',
    { target: '/articles?a=1&b=2', message: `GET+/articles?b=2&a=1+${stamp}+NONCE` },
    /query was signed in another order/,
  ],
  [
    'signs the decoded target',
    { target: '/articles/a%2Cb', message: `GET+/articles/a,b+${stamp}+NONCE` },
    /percent-decoded before it was signed/,
  ],
  [
    'encodes the secret in hexadecimal',
    { sign: (message) => hmac(message, Buffer.from(secret).toString('hex')) },
    /secret was encoded in hexadecimal/,
  ],
  [
    'uses the secret with a line feed',
    { sign: (message) => hmac(message, `${secret}\n`) },
    /secret was used with a trailing line feed/,
  ],
  [
    'signs with its password',
    { sign: (message) => hmac(message, 'pw') },
    /signed with the password of johndoe/,
  ],
  ['swaps key and message', { sign: (message) => hmac(secret, message) }, /key and message were swapped/],
  [
    'encodes the message in UTF-16',
    {
      sign: (message) =>
        createHmac('sha256', secret).update(Buffer.from(message, 'utf16le')).digest('base64'),
    },
    /UTF-16 instead of UTF-8/,
  ],
  ['leaves the padding out', { sign: (message) => hmac(message).replace('=', '') }, /padding "=" is missing/],
  [
    'percent-encodes the digest',
    { sign: (message) => encodeURIComponent(hmac(message)) },
    /digest is percent-encoded/,
  ],
  [
    'sends the credentials in base64',
    { credentials: `hmac ${Buffer.from('johndoe:n:digest').toString('base64')}` },
    /encoded in base64, as for Basic/,
  ],
  [
    'uses the name in another case',
    { credentials: 'hmac JohnDoe:NONCE:DIGEST' },
    /no user JohnDoe; did you mean johndoe\?/,
  ],
  ['uses the name of a removed user', { credentials: 'hmac bob:NONCE:DIGEST' }, /the user bob was removed/],
  [
    'names the scheme HMAC-SHA256',
    { credentials: 'HMAC-SHA256 johndoe:NONCE:DIGEST', field: 'Authorization' },
    /did you mean hmac\?/,
  ],
  ['leaves the scheme out', { credentials: 'johndoe:NONCE:DIGEST' }, /the scheme is missing/],
  [
    'misspells the field',
    { field: 'Authentification', method: 'DELETE', target: '/articles/1' },
    /field Authentification, which is not read; did you mean authentication\?/,
  ],
];

test('the list contains 50 mistakes', () => {
  assert.equal(variants.length, 50);
});

testMistakes(variants);
