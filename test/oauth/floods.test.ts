import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeOctets } from '../../src/http/syntax/percent.ts';
import { openTestService } from '../support/oauth/consumer.ts';

test('a form with more than 1,000 protocol parameters is rejected before they are parsed', async () => {
  const server = openTestService();
  const flood = async (count: number): Promise<string> => {
    const names = Array.from({ length: count - 1 }, (_, index) => `oauth_${index}=`);
    const form = [...names, 'oauth_0='].join('&');
    const answer = await server.ask('POST', '/oauth1/request_token', { form });
    return `${answer.status} ${answer.field('WWW-Authenticate').replace(/^OAuth realm="[^"]*", /, '')}`;
  };
  assert.match(await flood(1000), /^400 .*oauth_parameters_rejected="oauth_0"$/);
  // The one that is there twice was not found.
  assert.equal(await flood(1001), '400 oauth_problem="parameter_rejected"');
  assert.equal(await flood(40_000), '413 ');
});

test('a request with more than 1,000 parameters is rejected before its signature is verified', async () => {
  const server = openTestService();
  const outcome = async (count: number): Promise<string> => {
    const others = Array.from({ length: count - 1 }, (_, index) => `a${index}=`);
    const form = ['oauth_consumer_key=k', ...others].join('&');
    const answer = await server.ask('POST', '/oauth1/request_token', { form });
    assert.equal(answer.status, 400);
    return /oauth_problem="([^"]*)"/.exec(answer.field('WWW-Authenticate'))?.[1] ?? 'none';
  };
  assert.equal(await outcome(1000), 'parameter_absent');
  assert.equal(await outcome(1001), 'parameter_rejected');
});

test('every octet is encoded as in RFC 3986', () => {
  const octets = Array.from({ length: 256 }, (_, octet) => String.fromCharCode(octet)).join('');
  const expected = Array.from(octets, (character) =>
    /[A-Za-z0-9._~-]/.test(character)
      ? character
      : `%${Buffer.from(character, 'latin1').toString('hex').toUpperCase()}`,
  );
  assert.equal(encodeOctets(octets), expected.join(''));
});
