import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDouble } from '../../../src/double/index.ts';
import { type Answer, openServer, type Server } from '../../support/oauth/server.ts';

const path = '/oauth/token';
const robot = {
  grant_type: 'client_credentials',
  client_id: 'robot',
  client_secret: 'robot-secret-0123456789',
};

function post({ ask }: Server, target: string, content: string): Promise<Answer> {
  return ask('POST', target, { content, fields: [['Content-Type', 'application/json']] });
}

test('a token endpoint at a path of its own reads JSON, as partners with such a path do', async () => {
  const server = openServer({ oauth2: { paths: { token: path } } });
  const issued = await post(server, path, JSON.stringify(robot));
  assert.deepEqual([issued.status, issued.member('token_type')], [200, 'Bearer']);
  const wrong = await post(server, path, JSON.stringify({ ...robot, client_secret: 'wrong' }));
  assert.deepEqual([wrong.status, wrong.member('error')], [401, 'invalid_client']);
  const form = await server.ask('POST', path, { form: robot });
  assert.equal(form.status, 200);
  for (const content of ['', '[]', '{', '"a"', '{"grant_type":1}', '{"grant_type":["client_credentials"]}']) {
    const answer = await post(server, path, content);
    assert.deepEqual([answer.status, answer.member('error')], [400, 'invalid_request'], content);
  }
});

test('the token endpoint at the default path reads forms only', async () => {
  const answer = await post(openServer(), '/oauth2/token', JSON.stringify(robot));
  assert.deepEqual([answer.status, answer.member('error')], [415, 'invalid_request']);
});

test('a configured path takes the place of the operation that the document of a partner describes there', async () => {
  const json = { 'application/json': { schema: { type: 'object' }, example: { access_token: 'example' } } };
  const responses = { 200: { description: 'ok', content: json } };
  const requestBody = { content: { 'application/json': { schema: { type: 'object' } } } };
  const flow = { tokenUrl: `https://partner.example${path}`, scopes: {} };
  const partner = {
    openapi: '3.0.3',
    info: { title: 'partner', version: '1' },
    paths: { [path]: { post: { security: [], requestBody, responses } } },
    components: { securitySchemes: { o: { type: 'oauth2', flows: { clientCredentials: flow } } } },
  };
  const clients = { robot: { secret: robot.client_secret, grants: ['client_credentials'] as const } };
  const send = async (oauth2: object): Promise<unknown> => {
    await using double = await startDouble({ partner, clients, oauth2 });
    const headers = { 'Content-Type': 'application/json' };
    const response = await double.fetch(path, { method: 'POST', headers, body: JSON.stringify(robot) });
    return Reflect.get(Object(await response.json()), 'access_token');
  };
  assert.equal(await send({}), 'example');
  assert.match(String(await send({ paths: { token: path } })), /^[\w-]{43}$/);
});

test('a raw secret in Basic is accepted, and the journal notes it', async () => {
  const secret = 'a+secret%with+signs-0123456789';
  await using double = await startDouble({
    clients: { robot: { secret, grants: ['client_credentials'] } },
  });
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  const encoded = new URLSearchParams({ secret }).toString().slice('secret='.length);
  for (const [sent, warnings] of [
    [secret, ['the raw secret was sent in Basic; RFC 6749 §2.3.1 form-encodes it first']],
    [encoded, []],
  ] as const) {
    const Authorization = `Basic ${Buffer.from(`robot:${sent}`).toString('base64')}`;
    const response = await double.fetch('/oauth2/token', {
      method: 'POST',
      headers: { Authorization },
      body,
    });
    assert.equal(response.status, 200);
    assert.deepEqual(double.journal.last().warnings, warnings);
  }
});
