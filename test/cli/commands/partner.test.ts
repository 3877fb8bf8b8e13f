import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { call, run, startServer } from '../../support/cli/command.ts';
import { ordersDocument } from '../../support/double/orders-document.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const plain = ['--memory', '--no-tls', '--port', '0', '--log', 'off'];

function fileWith(document: unknown): string {
  const file = join(temporaryDirectory(), 'partner.json');
  writeFileSync(file, JSON.stringify(document));
  return file;
}

test('check --partner prints the number of operations, and each example that the schema does not allow', async () => {
  const document = ordersDocument();
  const file = fileWith(document);
  const good = await call(['check', ...plain, '--partner', file]);
  assert.deepEqual([good.status, good.stderr], [0, '']);
  assert.match(good.stdout, /^partner {6}.*partner\.json: 4 operations$/m);
  assert.match(good.stdout, /^schemes {6}key$/m);
  assert.match(good.stdout, /^collections {2}none$/m);
  const { paths } = document;
  Object.assign(paths['/orders'].post.responses[201].content['application/json'], { example: { id: 7 } });
  const { status, stderr } = await call(['check', ...plain, '--partner', fileWith(document)]);
  assert.equal(status, 0);
  assert.match(
    stderr,
    /201\/content\/application~1json\/example is not sent by default: \/total is missing \(#\/components\/schemas\/Order\/required\)/,
  );
});

test('an invalid document prevents the start, and the error names the place in it', async () => {
  const file = fileWith({ ...ordersDocument(), security: [{ lost: [] }] });
  for (const command of ['check', 'serve']) {
    const { stderr } = await run([command, ...plain, '--partner', file]);
    assert.match(
      stderr,
      /--partner: .*partner\.json: #\/paths\/~1orders\/get\/security: there is no security scheme "lost"/,
    );
  }
});

test('serve --partner returns the responses of the document, also with a control interface', async () => {
  const file = fileWith(ordersDocument());
  const server = await startServer([...plain, '--partner', file]);
  const order = await fetch(`${server.url}/v1/orders/ord_1`);
  assert.deepEqual([order.status, order.headers.get('content-type')], [200, 'application/json']);
  assert.equal((await fetch(`${server.url}/orders`)).status, 401);
  assert.equal((await fetch(`${server.url}/articles`)).status, 404);
  server.signal('SIGTERM');
  await server.ended;
  const token = 'token-of-the-control-interface';
  const controlled = await startServer([...plain, '--partner', file, '--control-port', '0'], {
    environment: { COUNTERSIGN_CONTROL_TOKEN: token },
  });
  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(controlled.controlUrl + path, {
      ...init,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    });
  const body = JSON.stringify({ operationId: 'getOrder', response: 404, times: 1 });
  assert.equal((await send('/partner/respond', { method: 'POST', body })).status, 204);
  assert.equal((await fetch(`${controlled.url}/orders/ord_1`)).status, 404);
  assert.equal((await fetch(`${controlled.url}/orders/ord_1`)).status, 200);
  assert.equal((await send('/partner/respond', { method: 'POST', body })).status, 204);
  assert.equal((await send('/partner/respond', { method: 'DELETE' })).status, 204);
  assert.equal((await fetch(`${controlled.url}/orders/ord_1`)).status, 200);
  const coverage = JSON.parse(await (await send('/partner/coverage')).text());
  assert.match(coverage.text, /getOrder .*: 200 × 2, 404 × 1/);
  controlled.signal('SIGTERM');
  await controlled.ended;
});
