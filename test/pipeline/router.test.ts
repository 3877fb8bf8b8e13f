import assert from 'node:assert/strict';
import test from 'node:test';
import { createRouter } from '../../src/pipeline/router.ts';
import { seeded } from '../support/seeded.ts';

const buildRouter = (...templates: string[]) =>
  createRouter(templates.map((template) => ({ template, resource: {} })));
const find = (router: ReturnType<typeof buildRouter>, path: string) => router.find(path.slice(1).split('/'));

test('a literal path finds its resource and no other', () => {
  const router = buildRouter('/', '/articles', '/articles/archive');
  assert.equal(find(router, '/')?.template, '/');
  assert.equal(find(router, '/articles')?.template, '/articles');
  assert.equal(find(router, '/articles/archive')?.template, '/articles/archive');
  for (const path of ['/article', '/articles/', '//articles', '/articles/archive/1', '/Articles']) {
    assert.equal(find(router, path), undefined, path);
  }
});

test('a parameter matches neither a dot segment nor a control character', () => {
  const router = buildRouter('/users/{username}', '/files/./{name}');
  for (const segment of ['.', '..', '\0', 'a\n', '\x1f', 'a\x7fb', '\x9b'])
    assert.equal(router.find(['users', segment]), undefined, JSON.stringify(segment));
  for (const segment of ['..a', '.a', 'a..', '...', 'a/b', '\u00a0', ' '])
    assert.deepEqual(router.find(['users', segment])?.parameters, { username: segment });
  assert.deepEqual(router.find(['files', '.', 'a'])?.parameters, { name: 'a' }, 'a literal one');
});

test('a literal segment has precedence over a parameter, which is tried if the literal does not match', () => {
  const router = buildRouter('/users/{name}/notes', '/users/me', '/users/me/settings');
  assert.equal(find(router, '/users/me')?.template, '/users/me');
  assert.deepEqual(find(router, '/users/me/notes')?.parameters, { name: 'me' });
  assert.equal(find(router, '/users/me/settings')?.template, '/users/me/settings');
});

test('property names of Object.prototype are ordinary segments', () => {
  const router = buildRouter('/articles/{id}');
  assert.deepEqual(find(router, '/articles/__proto__')?.parameters, { id: '__proto__' });
  assert.equal(find(router, '/__proto__'), undefined);
  assert.equal(find(router, '/constructor/x'), undefined);
});

test('a malformed or duplicate template is rejected', () => {
  for (const template of ['', 'articles', '/{}', '/{1}', '/{a}{b}', '/a{b}', '/{a}/{a}', '/a b', '/%zz']) {
    assert.throws(() => buildRouter(template), RangeError, template);
  }
  assert.throws(() => buildRouter('/a/{b}', '/a/{c}'), /the same path/);
});

test('for a random path, a router finds a matching template exactly if one exists', () => {
  const random = seeded();
  const words = ['a', 'b', 'c'];
  for (let round = 0; round < 300; round += 1) {
    const templates = new Set<string>();
    for (let count = random.below(6) + 1; count > 0; count -= 1) {
      const depth = random.below(3) + 1;
      const segments = Array.from({ length: depth }, (_, at) => random.pick([...words, `{p${at}}`]));
      templates.add(`/${segments.join('/')}`);
    }
    const router = buildRouter(...templates);
    const path = Array.from({ length: random.below(4) + 1 }, () => random.pick(words));
    const fits = (template: string): boolean => {
      const segments = template.slice(1).split('/');
      return (
        segments.length === path.length &&
        segments.every((each, at) => each.startsWith('{') || each === path[at])
      );
    };
    const found = router.find(path);
    assert.equal(
      found !== undefined,
      [...templates].some(fits),
      `seed ${random.seed}: ${path} in ${[...templates]}`,
    );
    if (found !== undefined) assert.ok(fits(found.template), `seed ${random.seed}`);
  }
});
