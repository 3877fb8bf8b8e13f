import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRequest, type IncomingRequest } from '../../src/http/message.ts';
import { createForwardedRewrite } from '../../src/pipeline/proxy.ts';
import { hostile } from '../support/http/hostile.ts';
import { seeded } from '../support/seeded.ts';
import { openService } from '../support/service/open-service.ts';

const proxy = '10.0.0.1';
const client = '192.0.2.1';
const trust = createForwardedRewrite(['10.0.0.0/8', 'fd00::/8']);

type Lines = [string, string][];

function asked(fields: Lines, { peer = proxy, secure = false } = {}): IncomingRequest {
  return createRequest({ method: 'GET', target: '/', headers: fields, peer, secure });
}

/** `peer` and whether it is secure, as the server then takes them. */
function seen(fields: Lines, from: { peer?: string; secure?: boolean } = {}): string {
  const { peer, secure } = trust(asked(fields, from)).connection;
  return `${peer} ${secure ? 'secure' : 'clear'}`;
}

const forwarded = (value: string): [string, string] => ['Forwarded', value];
const xFor = (value: string): [string, string] => ['X-Forwarded-For', value];
const xProto = (value: string): [string, string] => ['X-Forwarded-Proto', value];

test('the fields of a trusted proxy determine the address and the scheme of the client', () => {
  assert.equal(seen([forwarded(`for=${client};proto=https`)]), `${client} secure`);
  assert.equal(seen([xFor(client), xProto('https')]), `${client} secure`);
  assert.equal(seen([xProto('https')]), `${proxy} secure`);
  assert.equal(seen([xFor(client)]), `${client} clear`);
  assert.equal(
    seen([forwarded(`for="[2001:DB8::1]:80";proto=HTTPS`)], { peer: 'fd00::1' }),
    '2001:db8:0:0:0:0:0:1 secure',
  );
  assert.equal(seen([xProto('https')], { peer: '::ffff:10.0.0.1' }), '::ffff:10.0.0.1 secure');
});

test('the fields of an untrusted peer are ignored', () => {
  const fields: Lines = [forwarded('for=10.0.0.1;proto=https'), xFor('10.0.0.1'), xProto('https')];
  for (const peer of ['192.0.2.9', '11.0.0.1', '::ffff:11.0.0.1', '::1', '', 'fe80::1%eth0']) {
    const request = asked(fields, { peer });
    assert.equal(trust(request), request, peer);
  }
});

test('the address and the scheme are unchanged if a trusted proxy does not send them', () => {
  assert.equal(seen([]), `${proxy} clear`);
  assert.equal(seen([], { secure: true }), `${proxy} secure`);
  assert.equal(seen([xFor(client)], { secure: true }), `${client} secure`);
  assert.equal(seen([xFor(client), xProto('http')], { secure: true }), `${client} clear`);
});

test('only the connection of the request changes', () => {
  const request = asked([forwarded(`for=${client};proto=https`)]);
  const { connection, ...rest } = trust(request);
  const { connection: before, ...same } = request;
  assert.deepEqual({ ...rest }, { ...same });
  assert.equal(rest.body, request.body);
  assert.notDeepEqual(connection, before);
});

describe('the client is the last untrusted address of several hops', () => {
  const told: [fields: Lines, expected: string][] = [
    [[xFor(`1.1.1.1, ${client}, 10.0.0.2`), xProto('https')], `${client} secure`],
    [[xFor('1.1.1.1'), xFor(`${client}`)], `${client} clear`],
    [[xFor('10.0.0.3, 10.0.0.2')], '10.0.0.3 clear'],
    [[xFor('1.1.1.1, unknown, 10.0.0.2')], '10.0.0.2 clear'],
    [[xFor('1.1.1.1, unknown')], `${proxy} clear`],
    [[forwarded(`for=1.1.1.1;proto=https, for=${client};proto=http`)], `${client} clear`],
    [[forwarded(`for=1.1.1.1;proto=http, for=${client};proto=https`)], `${client} secure`],
    [[forwarded(`for=${client};proto=https, for=10.0.0.2;proto=https`)], `${client} secure`],
    [[forwarded(`for=${client};proto=https, for=10.0.0.2;proto=http`)], `${client} clear`],
    [[forwarded(`for=${client};proto=http, for=10.0.0.2;proto=https`)], `${client} clear`],
    [[forwarded(`for=${client}, for=10.0.0.2;proto=https`)], `${client} clear`],
    [[forwarded('for=1.1.1.1;proto=https, for=_hidden;proto=https')], `${proxy} secure`],
    [[forwarded('for=1.1.1.1;proto=https'), forwarded(`for=${client}`)], `${client} clear`],
  ];
  for (const [fields, expected] of told) {
    test(fields.map((line) => line.join(': ')).join(' | '), () => assert.equal(seen(fields), expected));
  }
});

describe('requests with contradictory or invalid fields count as plain HTTP', () => {
  const doubtful: [fields: Lines, expected: string][] = [
    [[xProto('https, http')], `${proxy} clear`],
    [[xProto('https,https')], `${proxy} clear`],
    [[xProto('https'), xProto('https')], `${proxy} clear`],
    [[xProto('"https"')], `${proxy} clear`],
    [[xProto('wss')], `${proxy} clear`],
    [[xProto('')], `${proxy} clear`],
    [[xFor(`${client},`), xProto('https')], `${proxy} clear`],
    [[forwarded(`for=${client};proto=https;proto=https`)], `${proxy} clear`],
    [[forwarded(`for=${client}; proto=https`)], `${proxy} clear`],
    [[forwarded('')], `${proxy} clear`],
    [[forwarded(`for=${client};proto=https`), xProto('http')], `${client} clear`],
    [[forwarded(`for=${client};proto=http`), xProto('https')], `${client} clear`],
    [[forwarded('for=1.1.1.1;proto=https'), xFor(client), xProto('https')], `${proxy} clear`],
    [[forwarded('for="'), xFor(client), xProto('https')], `${client} clear`],
  ];
  for (const secure of [false, true]) {
    for (const [fields, expected] of doubtful) {
      const name = fields.map((line) => line.join(': ')).join(' | ');
      test(`${name}${secure ? ', over TLS' : ''}`, () => assert.equal(seen(fields, { secure }), expected));
    }
  }
});

test('Forwarded and X-Forwarded fields are accepted together if they agree', () => {
  const both = [forwarded(`for="[2001:db8::1]";proto=https`), xFor('2001:DB8:0::1'), xProto('https')];
  assert.equal(seen(both), '2001:db8:0:0:0:0:0:1 secure');
  assert.equal(seen([forwarded('proto=https'), xFor(client)]), `${client} secure`);
});

test('an invalid network is rejected with its value', () => {
  assert.throws(() => createForwardedRewrite(['10.0.0.0/8', 'proxy.example']), {
    name: 'RangeError',
    message: '"proxy.example" is not a network such as 10.0.0.0/8 or fd00::/8',
  });
  assert.throws(() => openService({ trustProxy: ['10.0.0.1/8'] }), /10\.0\.0\.0\/8/);
});

test('a client cannot forge its address with text in front of the forwarded value', () => {
  const random = seeded();
  const pieces = ['for=', '10.0.0.2', '1.1.1.1', '"', '::1', ';', ',', 'proto=https', ' ', 'unknown'];
  for (let round = 0; round < 3000; round += 1) {
    const front = hostile(random, pieces).replace(/[\r\n\0]/g, '');
    const message = `${JSON.stringify(front)}, seed ${random.seed}`;
    const [named] = seen([xFor(`${front}, ${client}`)]).split(' ');
    assert.ok(named === client || named === proxy, message);
    const standard = seen([forwarded(`${front}, for=${client};proto=http`)]);
    assert.ok(standard === `${client} clear` || standard === `${proxy} clear`, message);
  }
});

const basic = (pair: string): [string, string] => [
  'Authorization',
  `Basic ${Buffer.from(pair).toString('base64')}`,
];

async function status(service: ReturnType<typeof openService>['service'], fields: Lines): Promise<number> {
  const request = createRequest({ method: 'GET', target: '/articles', headers: fields, peer: proxy });
  const reply = await service.respond(request);
  await new Promise((resolve) => setImmediate(resolve)); // as long as a reply takes at least to reach its client
  return reply.status;
}

test('behind a trusted proxy, Basic requires TLS of the client, and failures count per client address', async () => {
  const users = { ann: { secret: 's', password: 'pw' } };
  const { service } = openService({ users, trustProxy: ['10.0.0.0/8'], maxAuthFailures: 2 });
  const from = (address: string): Lines => [xFor(address), xProto('https')];
  assert.equal(await status(service, [...from(client), basic('ann:pw')]), 200);
  assert.equal(await status(service, [xFor(client), xProto('http'), basic('ann:pw')]), 403);
  for (const guess of ['a', 'b']) {
    assert.equal(await status(service, [...from('192.0.2.66'), basic(`ann:${guess}`)]), 401);
  }
  assert.equal(await status(service, [...from('192.0.2.66'), basic('ann:pw')]), 429);
  assert.equal(await status(service, [...from(client), basic('ann:pw')]), 200);
});

test('without a trusted proxy, Basic is refused with 403 even if fields claim TLS', async () => {
  const { service } = openService({ users: { ann: { secret: 's', password: 'pw' } } });
  assert.equal(await status(service, [xFor(client), xProto('https'), basic('ann:pw')]), 403);
  assert.equal(await status(service, [forwarded('for=10.0.0.1;proto=https'), basic('ann:pw')]), 403);
});
