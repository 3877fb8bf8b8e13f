import assert from 'node:assert/strict';
import { BlockList, isIP } from 'node:net';
import { test } from 'node:test';
import {
  contains,
  formatIpAddress,
  parseIpAddress,
  parseIpNetwork,
} from '../../../src/http/syntax/ip-address.ts';
import { hostile } from '../../support/http/hostile.ts';
import { type Seeded, seeded } from '../../support/seeded.ts';

const written = (text: string): string | undefined => {
  const address = parseIpAddress(text);
  return address === undefined ? undefined : formatIpAddress(address);
};

test('all notations of an address are formatted the same way, and anything else is rejected', () => {
  // RFC 4291 §2.2 and §2.5.5.2
  assert.equal(written('2001:DB8::8:800:200C:417A'), '2001:db8:0:0:8:800:200c:417a');
  assert.equal(written('2001:db8:0:0:8:800:200c:417a'), '2001:db8:0:0:8:800:200c:417a');
  assert.equal(written('::'), '0:0:0:0:0:0:0:0');
  assert.equal(written('::1'), '0:0:0:0:0:0:0:1');
  assert.equal(written('ff01::'), 'ff01:0:0:0:0:0:0:0');
  assert.equal(written('fe80::1%eth0'), 'fe80:0:0:0:0:0:0:1');
  for (const same of ['192.0.2.43', '::ffff:192.0.2.43', '::FFFF:c000:22b', '0:0:0:0:0:ffff:c000:22b'])
    assert.equal(written(same), '192.0.2.43');
  for (const none of [
    ...['', 'localhost', '1.2.3', '01.2.3.4', '1.2.3.4.5', '1.2.3.256', ':::', '1::2::3', '[::1]', '::1 '],
  ])
    assert.equal(parseIpAddress(none), undefined, none);
});

test('a network is an address with an optional prefix length, and anything else is rejected', () => {
  for (const text of [
    ...['10.0.0.0/8', '0.0.0.0/0', '127.0.0.1', '127.0.0.1/32', 'fd00::/8', '::/0', '::1', '::1/128'],
  ])
    assert.equal(typeof parseIpNetwork(text), 'object', text);
  const form = 'is not a network such as 10.0.0.0/8 or fd00::/8';
  for (const text of [
    ...['', '/', '/8', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/08', '10.0.0.0/-1', '10.0.0.0/8/8', '10/8'],
  ])
    assert.equal(parseIpNetwork(text), form, text);
  for (const text of ['::/129', '::1%eth0', '::%eth0/64', ' 10.0.0.0/8', 'loopback', '10.0.0.0-10.1.0.0'])
    assert.equal(parseIpNetwork(text), form, text);
});

test('a network with bits set behind its prefix is rejected with the intended network', () => {
  assert.equal(parseIpNetwork('10.1.2.3/8'), 'has bits set behind its prefix; the network is 10.0.0.0/8');
  assert.equal(
    parseIpNetwork('fd12:3456::1/16'),
    'has bits set behind its prefix; the network is fd12:0:0:0:0:0:0:0/16',
  );
});

function holds(network: string, address: string): boolean {
  const parsed = parseIpNetwork(network);
  const groups = parseIpAddress(address);
  assert.ok(typeof parsed !== 'string' && groups !== undefined, `${network} ${address}`);
  return contains(parsed, groups);
}

test('a network contains the addresses that share its prefix', () => {
  assert.ok(holds('10.0.0.0/8', '10.255.0.1'));
  assert.ok(holds('10.0.0.0/8', '::ffff:10.255.0.1'));
  assert.ok(!holds('10.0.0.0/8', '11.0.0.0'));
  assert.ok(holds('192.0.2.128/25', '192.0.2.255') && !holds('192.0.2.128/25', '192.0.2.127'));
  assert.ok(holds('fd00::/8', 'fdff::1') && !holds('fd00::/8', 'fe00::1'));
  assert.ok(holds('::/0', 'fe80::1') && !holds('::/0', '1.2.3.4'));
  assert.ok(holds('0.0.0.0/0', '1.2.3.4') && !holds('0.0.0.0/0', '::1'));
});

const drawn = (random: Seeded, family: 4 | 6): string => {
  const octet = (): number => random.pick([0, 1, 127, 128, 255, random.below(256)]);
  if (family === 4) return `${octet()}.${octet()}.${octet()}.${octet()}`;
  return Array.from({ length: 8 }, () => (octet() * 256 + octet()).toString(16)).join(':');
};

test('a network contains the same addresses as a BlockList of node:net', () => {
  const random = seeded();
  for (let round = 0; round < 3000; round += 1) {
    const family = random.pick([4, 6] as const);
    const bits = random.below(family === 4 ? 33 : 129);
    const parsed = parseIpNetwork(`${drawn(random, family)}/${bits}`);
    const text = typeof parsed === 'string' ? parsed.replace(/^.* /, '') : undefined;
    if (text === undefined) continue;
    const list = new BlockList();
    const type = family === 4 ? 'ipv4' : 'ipv6';
    const base = text.slice(0, text.indexOf('/'));
    if (base.includes('.') !== (family === 4)) continue;
    list.addSubnet(base, bits, type);
    for (const address of [base, drawn(random, family)]) {
      assert.equal(
        holds(text, address),
        list.check(address, type),
        `${text} ${address}, seed ${random.seed}`,
      );
    }
  }
});

test('the parser accepts exactly the addresses that node:net accepts', () => {
  const random = seeded();
  for (let round = 0; round < 5000; round += 1) {
    const text = hostile(random, ['::', ':', '1', 'ffff', '.', '127.0.0.1', '0', '%', '2001:db8']);
    assert.equal(
      parseIpAddress(text) !== undefined,
      isIP(text) !== 0,
      `${JSON.stringify(text)}, seed ${random.seed}`,
    );
    const again = written(text);
    if (again !== undefined) assert.equal(written(again), again, `seed ${random.seed}`);
  }
});
