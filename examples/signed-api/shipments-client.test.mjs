import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startDouble } from 'countersign/double';
import { ShipmentsClient } from './shipments-client.mjs';

const secret = 'wJalrXUtnFEMI';
let double;
let client;

before(async () => {
  double = await startDouble({
    partner: 'partner.json',
    // The document names AWS Signature Version 4, but neither region nor service.
    schemes: { aws4: { region: 'eu-central-1', service: 'execute-api' } },
    users: { shop: { keys: { AKIAEXAMPLE: { algorithm: 'aws4', secret } } } },
    aliases: ['https://shipping.example'],
    now: '2026-03-01T12:00:00Z',
  });
  client = new ShipmentsClient({
    url: 'https://shipping.example/prod',
    region: 'eu-central-1',
    accessKeyId: 'AKIAEXAMPLE',
    secret,
    fetch: double.fetch,
    now: () => double.clock.now(),
  });
});
after(() => double.close());

/** Rejects with the reason why the last request was refused. */
function explain(error) {
  throw new Error(`${error.message}\n${double.journal.last()}`);
}

test('lists shipments', async () => {
  const [shipment] = await client.list('open').catch(explain);
  assert.equal(shipment.id, 'shp_1');
});

test('creates a shipment', async () => {
  const shipment = await client.create('Rua do Sol 1, Lisboa').catch(explain);
  assert.equal(shipment.id, 'shp_2');
});

test('cancels a shipment', async () => {
  await client.cancel('shp_2').catch(explain);
});

test('rejects if an address cannot be reached', async () => {
  double.partner.respond('createShipment', 409, { times: 1 });
  await assert.rejects(client.create('Nowhere'), /POST \/shipments: 409/);
});

test('the tests use every operation of the partner', (context) => {
  const coverage = double.partner.coverage();
  context.diagnostic(String(coverage));
  assert.deepEqual(coverage.uncovered, [], String(coverage));
});
