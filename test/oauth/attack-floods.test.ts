import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeOctets } from '../../src/signature/oauth1-parameters.ts';
import { openHouse } from './consumer.ts';

/** Microseconds that this process computes for. */
async function computed(act: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await act();
  return process.cpuUsage(before).user;
}

test('a form of many parameters of the protocol is refused in a time that grows with it, and not with its square', async () => {
  const server = openHouse();
  const flood = async (count: number): Promise<void> => {
    const names = Array.from({ length: count }, (_, index) => `oauth_${index}=`);
    const answer = await server.ask('POST', '/oauth1/request_token', {
      form: [...names, names[0]].join('&'),
    });
    assert.equal(answer.status, 400);
    assert.match(answer.field('WWW-Authenticate'), /oauth_parameters_rejected="oauth_0"/);
  };
  await flood(1000);
  const little = await computed(() => flood(4000));
  const much = await computed(() => flood(40_000));
  assert.ok(much < 40 * little + 200_000, `${much} µs after ${little} µs`);
});

test('more parameters than can be signed are refused before a signature is made over them', async () => {
  const server = openHouse();
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

test('octets are encoded as RFC 3986 has it, every one of them', () => {
  const octets = Array.from({ length: 256 }, (_, octet) => String.fromCharCode(octet)).join('');
  const expected = Array.from(octets, (character) =>
    /[A-Za-z0-9._~-]/.test(character)
      ? character
      : `%${Buffer.from(character, 'latin1').toString('hex').toUpperCase()}`,
  );
  assert.equal(encodeOctets(octets), expected.join(''));
});
