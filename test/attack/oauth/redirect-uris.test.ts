import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attackOAuth2 } from '../../../src/attack/index.ts';

/** Returns the redirect URIs that are tried, by the text that describes the difference. */
async function variants(redirectUri: string): Promise<Map<string, string>> {
  const metadata = {
    authorization_endpoint: 'http://127.0.0.1:1/authorize?tenant=1',
    token_endpoint: 'http://127.0.0.1:1/token',
  };
  const tried: string[] = [];
  const report = await attackOAuth2({
    metadata,
    client: { id: 'app', redirectUri },
    async approve(url) {
      const { searchParams } = new URL(url);
      assert.equal(searchParams.get('tenant'), '1');
      tried.push(searchParams.get('redirect_uri') ?? '');
      return undefined;
    },
  });
  const names = report.results
    .map(({ name }) => name)
    .filter((name) => name.startsWith('the redirect URI '))
    .map((name) => name.slice('the redirect URI '.length));
  const uris = tried.slice(-names.length);
  return new Map(names.map((name, at) => [name, uris[at] ?? '']));
}

test('the variants of a redirect URI over HTTPS differ in the path, query, fragment, host, scheme and port', async () => {
  assert.deepEqual(Object.fromEntries(await variants('https://client.example/app/cb?from=here')), {
    'differs by a trailing slash': 'https://client.example/app/cb/?from=here',
    'has another path': 'https://client.example/evil?from=here',
    'has a longer path': 'https://client.example/app/cb/evil?from=here',
    'leaves its path by a dot segment': 'https://client.example/app/cb/../evil?from=here',
    'has its path in another case': 'https://client.example/app/Cb?from=here',
    'has a percent-encoded letter': 'https://client.example/app/%63b?from=here',
    'has one more parameter': 'https://client.example/app/cb?from=here&evil=1',
    'has a fragment': 'https://client.example/app/cb?from=here#evil',
    'is followed by a space': 'https://client.example/app/cb?from=here ',
    'has another host': 'https://evil.example/app/cb?from=here',
    'has the registered host as user information': 'https://client.example@evil.example/app/cb?from=here',
    'has user information': 'https://evil@client.example/app/cb?from=here',
    'has the registered host as the beginning of another one':
      'https://client.example.evil.example/app/cb?from=here',
    'has its host in capitals': 'https://CLIENT.EXAMPLE/app/cb?from=here',
    'has http for https': 'http://client.example/app/cb?from=here',
    'has a sub-domain': 'https://evil.client.example/app/cb?from=here',
    'has another port': 'https://client.example:8444/app/cb?from=here',
  });
});

test('a loopback redirect URI has variants of its host name, but not of its port', async () => {
  const tried = await variants('http://localhost:3000/');
  assert.equal(tried.get('has 127.0.0.1 for localhost'), 'http://127.0.0.1:3000/');
  assert.equal(tried.get('differs by a trailing slash'), 'http://localhost:3000');
  assert.ok(!tried.has('has another port') && !tried.has('has http for https'));
  assert.equal(
    (await variants('http://127.0.0.1/cb')).get('has localhost for 127.0.0.1'),
    'http://localhost/cb',
  );
  assert.equal((await variants('http://[::1]/cb')).get('has 127.0.0.1 for [::1]'), 'http://127.0.0.1/cb');
});

test('a redirect URI with a private-use scheme has no variants of its host', async () => {
  const tried = await variants('app.phone:/cb');
  assert.equal(tried.get('has a longer path'), 'app.phone:/cb/evil');
  assert.deepEqual(
    [...tried.keys()].filter((name) => /host|port|domain|http/.test(name)),
    [],
  );
});

test('variants are unique, and differ from the registered URI', async () => {
  for (const uri of [
    'https://a.example',
    'https://A.EXAMPLE/',
    'http://localhost',
    'x.y:/1',
    'https://a.example/?q',
  ]) {
    const uris = [...(await variants(uri)).values()];
    assert.ok(!uris.includes(uri), uri);
    assert.equal(new Set(uris).size, uris.length, `${uri}: ${uris}`);
  }
});
