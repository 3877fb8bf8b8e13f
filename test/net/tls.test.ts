import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { connect, Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type ConnectionOptions, connect as connectSecurely, type TLSSocket } from 'node:tls';
import { TlsError } from '../../src/net/tls/identity.ts';
import { createService, type Listener } from '../../src/service/service.ts';
import { missing } from '../support/net/program.ts';
import { makeIdentity } from '../support/net/transport.ts';

const request = 'GET /articles HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** A service over TLS, closed with the test. */
async function serve(
  context: TestContext,
  tls = makeIdentity(),
  limits = {},
): Promise<Listener & { cert: string; close(): Promise<void> }> {
  const service = createService({ limits });
  const listening = await service.listen({ tls });
  context.after(() => service.close({ grace: 0 }));
  return { ...listening, cert: tls.cert, close: () => service.close({ grace: 0 }) };
}

/** Connects with TLS; rejects with what hinders it. */
async function agree(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connectSecurely({ port, host: '127.0.0.1', servername: 'localhost', ...options });
  await Promise.race([
    once(socket, 'secureConnect'),
    once(socket, 'close').then(() => Promise.reject(new Error('closed'))),
  ]);
  socket.on('error', () => {}); // a test may end it as it likes
  return socket;
}

/** The start of what comes next on a socket. */
async function answer(socket: TLSSocket, bytes = request): Promise<string> {
  socket.write(bytes);
  const [chunk] = await once(socket, 'data');
  return String(chunk);
}

/** What a socket receives until it is closed; how it closes is all the same. */
async function received(socket: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  await new Promise((resolve) => socket.on('close', resolve));
  return text;
}

test('TLS 1.2 and TLS 1.3 are accepted, and older versions are rejected', async (t) => {
  const { port, cert } = await serve(t);
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await agree(port, { ca: cert, minVersion: version, maxVersion: version });
    assert.equal(socket.getProtocol(), version);
    assert.match(await answer(socket), /^HTTP\/1\.1 200 OK\r\n/);
    socket.destroy();
  }
  for (const version of ['TLSv1', 'TLSv1.1'] as const) {
    const old = { ca: cert, minVersion: version, maxVersion: version, ciphers: 'DEFAULT:@SECLEVEL=0' };
    await assert.rejects(agree(port, old), { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' });
  }
});

test('ALPN selects HTTP/1.1 even if the client prefers HTTP/2, and rejects HTTP/2 alone', async (t) => {
  const { port, cert } = await serve(t);
  const socket = await agree(port, { ca: cert, ALPNProtocols: ['h2', 'http/1.1'] });
  assert.equal(socket.alpnProtocol, 'http/1.1');
  const older = await agree(port, { ca: cert, ALPNProtocols: ['http/1.0'] });
  assert.equal(older.alpnProtocol, 'http/1.0');
  older.destroy();
  socket.destroy();
  await assert.rejects(agree(port, { ca: cert, ALPNProtocols: ['h2'] }));
});

test('a client cannot renegotiate the connection', async (t) => {
  const { port, cert } = await serve(t);
  const socket = await agree(port, { ca: cert, maxVersion: 'TLSv1.2' });
  const outcome = await new Promise((resolve) => {
    socket.on('error', resolve);
    socket.renegotiate({}, resolve);
  });
  assert.ok(outcome instanceof Error);
  socket.destroy();
});

test('a session is resumed', async (t) => {
  const { port, cert } = await serve(t);
  const first = await agree(port, { ca: cert });
  const session = once(first, 'session');
  await answer(first);
  const second = await agree(port, { ca: cert, session: (await session)[0] });
  assert.ok(second.isSessionReused());
  assert.match(await answer(second), /^HTTP\/1\.1 200 /);
  for (const socket of [first, second]) socket.destroy();
});

test('a replaced certificate applies to new connections, and existing connections stay open', async (t) => {
  const first = makeIdentity('The first');
  const { port, replaceCertificate } = await serve(t, first);
  const readSubject = (socket: TLSSocket): unknown => socket.getPeerCertificate().subject.CN;
  const before = await agree(port, { ca: first.cert });
  assert.equal(readSubject(before), 'The first');
  await answer(before);
  const second = makeIdentity('The second');
  replaceCertificate(second);
  assert.match(await answer(before), /^HTTP\/1\.1 200 /);
  const after = await agree(port, { ca: second.cert });
  assert.equal(readSubject(after), 'The second');
  await assert.rejects(agree(port, { ca: first.cert }), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  for (const socket of [before, after]) socket.destroy();
});

test('a certificate made for the first client is made once, and not at all if it was replaced before', async (t) => {
  const [own, other] = [makeIdentity('Its own'), makeIdentity('Another')];
  for (const replaced of [false, true]) {
    let made = 0;
    const service = createService();
    t.after(() => service.close({ grace: 0 }));
    const tls = () => {
      made += 1;
      return own;
    };
    const { port, replaceCertificate } = await service.listen({ tls });
    assert.equal(made, 0);
    if (replaced) replaceCertificate(other);
    for (let client = 0; client < 2; client += 1) {
      const socket = await agree(port, { ca: replaced ? other.cert : own.cert });
      assert.match(await answer(socket), /^HTTP\/1\.1 200 /);
      socket.destroy();
    }
    assert.equal(made, replaced ? 0 : 1);
  }
});

test('listen and replaceCertificate reject an invalid certificate or key, and the current certificate is unchanged', async (t) => {
  const [one, other] = [makeIdentity(), makeIdentity()];
  const { port, cert, replaceCertificate } = await serve(t, one);
  const bad = [
    { cert: one.cert, key: other.key },
    { cert: 'garbage', key: one.key },
    { cert: one.cert, key: 'garbage' },
    { cert: '', key: '' },
  ];
  for (const tls of bad) {
    await assert.rejects(createService().listen({ tls }), TlsError);
    assert.throws(() => replaceCertificate(tls), TlsError);
    (await agree(port, { ca: cert })).destroy();
  }
  const plain = createService();
  t.after(() => plain.close({ grace: 0 }));
  const listening = await plain.listen({});
  assert.throws(() => listening.replaceCertificate(one), TypeError);
});

test('the HTTPS port disconnects a client that speaks plain HTTP, and the HTTP port answers TLS with 400', async (t) => {
  const { port, cert } = await serve(t);
  const lost = connect(port, '127.0.0.1');
  lost.write(request);
  assert.doesNotMatch(await received(lost), /HTTP\/1\.1 2/);
  const service = createService();
  t.after(() => service.close({ grace: 0 }));
  const plain = await service.listen({});
  const hello = connect(plain.port, '127.0.0.1');
  const [, first] = await Promise.all([
    assert.rejects(agree(plain.port, { ca: cert })),
    received(hello),
    // The start of a ClientHello (RFC 8446 §5.1, §4.1.2).
    hello.write(Buffer.from('16030100be010000ba0303', 'hex')),
  ]);
  assert.match(first, /^HTTP\/1\.1 400 Bad Request\r\n/);
});

test('a client that never finishes the handshake is disconnected, and closing does not wait for it', async (t) => {
  const { port, close } = await serve(t, makeIdentity(), { headerTimeout: 40, requestTimeout: 40 });
  const silent = connect(port, '127.0.0.1');
  assert.equal(await received(silent), '');
  const patient = await serve(t, makeIdentity(), { headerTimeout: 60_000 });
  const halfway = connect(patient.port, '127.0.0.1');
  halfway.write(Buffer.from('1603', 'hex'));
  await once(halfway, 'connect');
  (await agree(patient.port, { ca: patient.cert })).destroy(); // so that the one before it was accepted
  await Promise.all([received(halfway), patient.close()]);
  await close();
});

test('connections count towards the limit before the TLS handshake, and silent ones are closed for new ones', async (t) => {
  const { port, cert } = await serve(t, makeIdentity(), { connections: 2 });
  const endings: Promise<unknown>[] = [];
  for (let opened = 0; opened < 20; opened += 1) {
    const silent = connect(port, '127.0.0.1').on('error', () => {});
    t.after(() => silent.destroy());
    endings.push(new Promise((resolve) => silent.resume().once('close', resolve)));
    await once(silent, 'connect');
  }
  const beyond = await agree(port, { ca: cert });
  assert.match(await answer(beyond), /^HTTP\/1\.1 200 /);
  await Promise.all(endings.slice(0, -1));
  beyond.destroy();
});

/** Runs a program to its end without holding up this process, which has to answer it. */
async function run(program: string, args: readonly string[], environment = {}): Promise<string> {
  const child = spawn(program, args, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  await once(child, 'close');
  return output;
}

/** A directory with the certificate in a file, removed with the test. */
function certificateFile(context: TestContext, cert: string): { directory: string; file: string } {
  const directory = temporaryDirectory(context);
  const file = join(directory, 'certificate.pem');
  writeFileSync(file, cert);
  return { directory, file };
}

const hosts = ['localhost', '127.0.0.1'];

test('curl trusts the certificate', { skip: missing('curl') }, async (t) => {
  const { port, cert } = await serve(t);
  const { file } = certificateFile(t, cert);
  for (const host of hosts) {
    const url = `https://${host}:${port}/articles`;
    assert.equal(await run('curl', ['-s', '--noproxy', '*', '--cacert', file, url]), '<articles></articles>');
    assert.match(await run('curl', ['-sS', '--noproxy', '*', url]), /self[- ]signed certificate/);
  }
});

test('Node trusts the certificate', async (t) => {
  const { port, cert } = await serve(t);
  for (const host of hosts) {
    const [response] = await once(
      get(`https://${host}:${port}/articles`, { ca: cert, family: 4 }),
      'response',
    );
    assert.equal(response.statusCode, 200);
    response.resume();
  }
});

const python = `
import ssl, sys, urllib.request
context = ssl.create_default_context(cafile=sys.argv[1])
assert context.check_hostname
context.verify_flags |= ssl.VERIFY_X509_STRICT
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
print(opener.open(sys.argv[2]).read().decode())
`;

import { temporaryDirectory } from '../support/temporary-directory.ts';

test('Python trusts the certificate, strictly', { skip: missing('python3') }, async (t) => {
  const { port, cert } = await serve(t);
  const { file } = certificateFile(t, cert);
  for (const host of hosts) {
    const output = await run('python3', ['-c', python, file, `https://${host}:${port}/articles`]);
    assert.equal(output, '<articles></articles>\n');
  }
});

test('Chromium trusts the certificate when its database does, and not otherwise', {
  skip: missing('chromium') || missing('certutil'),
  timeout: 120_000,
}, async (t) => {
  const { port, cert } = await serve(t);
  const { directory, file } = certificateFile(t, cert);
  const database = `sql:${join(directory, '.pki', 'nssdb')}`;
  await run('mkdir', ['-p', join(directory, '.pki', 'nssdb')]);
  const browse = (host: string): Promise<string> => {
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--no-proxy-server', '--dump-dom'];
    return run('chromium', [...flags, `https://${host}:${port}/articles`], { HOME: directory });
  };
  await run('certutil', ['-d', database, '-N', '--empty-password']);
  assert.doesNotMatch(await browse('localhost'), /<articles/);
  // P: a peer that is trusted by itself, and no authority.
  await run('certutil', ['-d', database, '-A', '-t', 'P,,', '-n', 'Countersign', '-i', file]);
  for (const host of hosts) assert.match(await browse(host), /<articles/, host);
});

test('a request that arrives with another one does not pause reading', async (t) => {
  const { port, cert } = await serve(t);
  const socket = await agree(port, { ca: cert });
  t.after(() => socket.destroy());
  let replies = 0;
  socket.on('data', (chunk) => {
    replies += String(chunk).split('HTTP/1.1 200').length - 1;
  });
  const { pause } = Socket.prototype;
  let pauses = 0;
  Socket.prototype.pause = function () {
    if (this.localPort === port) pauses += 1;
    return pause.call(this);
  };
  t.after(() => {
    Socket.prototype.pause = pause;
  });
  for (let round = 1; round <= 20; round += 1) {
    socket.write(request.repeat(2));
    while (replies < round * 2) await once(socket, 'data');
  }
  assert.equal(pauses, 0);
});
