import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import test from 'node:test';
import { formatContentDigest } from '../../../src/http/headers/content-digest.ts';
import { createRequest, type IncomingRequest } from '../../../src/http/message.ts';
import { countOperations } from '../../support/schemes/counted-crypto.ts';
import {
  annsSecret,
  arriving,
  get,
  judgeRequest,
  openScheme,
  p384,
  requireProblem,
  type SchemeSetting,
  signed,
  start,
} from '../../support/schemes/message-scheme.ts';
import { keyIds, signingKey } from '../../support/schemes/rfc9421.ts';
import { type RequestToSign, signMessage } from '../../support/schemes/sign-message.ts';

const put: RequestToSign = {
  method: 'PUT',
  url: 'https://example.com/articles/1',
  content: '{"title":"Ink"}',
};

async function readDetail(request: IncomingRequest, setting: SchemeSetting = {}): Promise<string> {
  const { verdict } = await openScheme(setting).judge(request);
  return requireProblem(verdict).detail;
}

/** The request with other values of some fields; undefined removes a field. */
function withFields(
  request: IncomingRequest,
  changes: Readonly<Record<string, string | undefined>>,
): IncomingRequest {
  const { raw } = request.headers;
  const fields: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    const changed = Object.hasOwn(changes, name.toLowerCase()) ? changes[name.toLowerCase()] : value;
    if (changed !== undefined) fields.push([name, changed]);
  }
  const { method, target, connection } = request;
  return createRequest({ method, target, headers: fields, secure: connection.secure });
}

test('a request signed with each algorithm is accepted, with and without the parameter alg', async () => {
  const rsa = signingKey('test-key-rsa');
  assert.ok('privateKey' in rsa);
  const keys = [
    ...keyIds.map(signingKey),
    { id: 'p384', algorithm: 'ecdsa-p384-sha384', privateKey: p384.privateKey } as const,
    { id: 'rsa-as-pss', algorithm: 'rsa-pss-sha512', privateKey: rsa.privateKey } as const,
  ];
  assert.equal(keys.length, 7);
  for (const key of keys)
    for (const alg of [false, true])
      assert.equal(await judgeRequest(signed(get, { key, alg })), 'good ann', key.id);
});

test('white space that structured fields permit does not change the signature', async () => {
  const request = signed(get);
  const input = request.headers.get('signature-input') ?? '';
  const spaced = input.replace('("', '(  "').replace(';created', '; created');
  assert.equal(await judgeRequest(withFields(request, { 'signature-input': ` ${spaced} ` })), 'good ann');
});

test('the parameter alg does not choose the algorithm', async () => {
  for (const alg of ['rsa-v1_5-sha256', 'none', 'ed25519', 'HMAC-SHA256']) {
    const request = arriving(get, Object.entries(signMessage(get, { key: annsSecret, created: start })));
    const input = `${request.headers.get('signature-input')};alg="${alg}"`;
    assert.equal(
      await judgeRequest(withFields(request, { 'signature-input': input })),
      'credentials-refused',
    );
  }
  // The public key as the secret of an HMAC.
  const { publicKey } = generateKeyPairSync('ed25519');
  for (const secret of [
    publicKey.export({ type: 'spki', format: 'pem' }),
    publicKey.export({ type: 'spki', format: 'der' }),
  ]) {
    const key = { id: 'test-key-ed25519', algorithm: 'hmac-sha256', secret } as const;
    assert.equal(await judgeRequest(signed(get, { key, alg: true })), 'credentials-refused');
  }
});

test('a key of another scheme is refused', async () => {
  const key = { ...annsSecret, id: 'cloud' };
  assert.equal(await judgeRequest(signed(get, { key })), 'credentials-refused');
});

test('a signature without a required component or parameter is refused with its name', async () => {
  assert.match(
    await readDetail(signed(get, { components: ['@method', '@path'] })),
    /does not cover "@authority", "@query"/,
  );
  assert.match(await readDetail(withoutCreated()), /requires the parameter created/);
  assert.match(
    await readDetail(signed(get), { options: { tag: 'app' } }),
    /requires the parameter tag with the value "app"/,
  );
  assert.equal(await judgeRequest(signed(get, { tag: 'app' }), { options: { tag: 'app' } }), 'good ann');
  const other = await judgeRequest(signed(get, { tag: 'other' }), { options: { tag: 'app' } });
  assert.equal(other, 'signature-insufficient');
  assert.equal(
    await judgeRequest(signed(get, { components: ['@query', '@path', '@authority', '@method', 'host'] })),
    'good ann',
  );
  assert.equal(await judgeRequest(signed(put)), 'good ann');
});

function withoutCreated(): IncomingRequest {
  return arriving(get, Object.entries(signMessage(get, { key: annsSecret })));
}

test('content without a covered digest is refused', async () => {
  const { content: _, ...withoutContent } = put;
  const covers = async (component: string | undefined, digest: string): Promise<string> => {
    const fields: [string, string][] = [['Content-Digest', digest]];
    const components = [
      '@method',
      '@authority',
      '@path',
      '@query',
      ...(component === undefined ? [] : [component]),
    ];
    const lines = signMessage({ ...withoutContent, fields }, { key: annsSecret, created: start, components });
    return judgeRequest(arriving({ ...put, fields }, Object.entries(lines)));
  };
  const digest = formatContentDigest(Buffer.from('{"title":"Ink"}'));
  assert.equal(await covers(undefined, digest), 'digest-required');
  assert.equal(await covers('content-digest', digest), 'good ann');
  assert.equal(await covers('content-digest;bs', digest), 'good ann');
  assert.equal(await covers('content-digest;key="sha-256"', digest), 'good ann');
  // A digest with an algorithm that is not verified does not protect the content.
  assert.equal(await covers('content-digest;key="md5"', `md5=:AAAA:, ${digest}`), 'digest-required');
  assert.equal(await covers('content-digest', 'md5=:AAAA:'), 'malformed-field');
  assert.equal(await covers('content-digest', 'sha-256=:AAAA:'), 'malformed-field');
  assert.equal(await covers('content-digest', formatContentDigest(Buffer.from('x'))), 'digest-mismatch');
  assert.equal(await judgeRequest(signed(withoutContent)), 'good ann');
  const lines = Object.entries(signMessage(withoutContent, { key: annsSecret, created: start }));
  assert.equal(await judgeRequest(arriving(put, lines)), 'digest-required');
  const empty: [string, string] = ['Content-Length', '0'];
  assert.equal(await judgeRequest(arriving({ ...put, content: '' }, [empty, ...lines])), 'good ann');
});

test('the challenge requests the required components and parameters in Accept-Signature', () => {
  const { scheme } = openScheme({ options: { components: ['@method', 'content-type;sf'], tag: 'app' } });
  const connection = { peer: '127.0.0.1', secure: true };
  assert.equal(scheme.challenge(connection), 'message-signatures realm="test"');
  assert.deepEqual(scheme.challengeFields?.(connection), [
    ['Accept-Signature', 'sig1=("@method" "content-type";sf);created;tag="app"'],
  ]);
});

test('failures are counted for the key id', () => {
  const { scheme } = openScheme();
  assert.equal(scheme.claimedUser?.('', signed(get)), 'ann');
  assert.equal(scheme.claimedUser?.('', arriving(get, [['Signature', 'x']])), undefined);
});

test('a component covers the components that its value contains', async () => {
  for (const [components, outcome] of [
    [['@method', '@target-uri'], 'good ann'],
    [['@method', '@authority', '@request-target'], 'good ann'],
    [['@method', '@request-target'], 'signature-insufficient'],
    [['@target-uri'], 'signature-insufficient'],
  ] as const)
    assert.equal(await judgeRequest(signed(get, { components })), outcome, components.join());
  const absolute = { ...get, target: 'https://example.com/articles?limit=5' };
  assert.equal(
    await judgeRequest(signed(absolute, { components: ['@method', '@request-target'] })),
    'good ann',
  );
  const options = { components: ['@scheme', '@target-uri'] };
  assert.equal(await judgeRequest(signed(get, { components: ['@target-uri'] }), { options }), 'good ann');
  assert.equal(await judgeRequest(signed(get), { options }), 'signature-insufficient');
});

test('a component that cannot be covered is refused with the reason', async () => {
  const detail = (component: string, target = '/a'): Promise<string> =>
    readDetail(
      createRequest({
        method: 'GET',
        target,
        headers: [
          ['Host', 'example.com'],
          ['X-Some', 'a=('],
          ['Signature-Input', `sig1=(${component});keyid="ann"`],
          ['Signature', 'sig1=:AA==:'],
        ],
      }),
    );
  assert.match(await detail('"@query-param";name="a"', '/?a=1&a=2'), /the query has several parameters "a"/);
  assert.match(await detail('"@query-param";name="b"', '/?a=1'), /the message has no component/);
  assert.match(await detail('"x-some";sf'), /the type of the structured field "x-some" is not known/);
  assert.match(await detail('"x-some";key="a"'), /"x-some" is not a dictionary, which key requires/);
  assert.match(await detail('"x-none";sf'), /the message has no component "x-none";sf/);
});

test('a signature of the wrong length costs as much for an RSA key as for an unknown key', async () => {
  const { scheme } = openScheme();
  const cost = async (id: string, length: number): Promise<number> => {
    const { 'Signature-Input': input } = signMessage(get, { key: { ...annsSecret, id }, created: start });
    const request = arriving(get, [
      ['Signature-Input', input],
      ['Signature', `sig1=:${Buffer.alloc(length, 1).toString('base64')}:`],
    ]);
    return countOperations(async () => scheme.authenticate(request, ''));
  };
  for (const length of [64, 96, 128, 256, 512]) {
    await cost('nobody', length);
    assert.equal(await cost('test-key-rsa', length), await cost('nobody', length), `${length}`);
  }
});
