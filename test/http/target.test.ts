import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../../src/http/problem.ts';
import { addressedAuthority, parseTarget, splitTarget } from '../../src/http/target.ts';
import { hostile } from '../support/http/hostile.ts';
import { seeded } from '../support/seeded.ts';

function refusal(target: string, method = 'GET'): Problem {
  try {
    parseTarget(target, method);
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.type, 'malformed-target');
    return error;
  }
  return assert.fail(`${JSON.stringify(target)} was taken`);
}

test('the origin form is split into path, segments and query', () => {
  // RFC 9112 §3.2.1
  assert.deepEqual(parseTarget('/where?q=now', 'GET'), {
    path: '/where',
    segments: ['where'],
    search: 'q=now',
    asterisk: false,
  });
  const segments = (target: string) => parseTarget(target, 'GET').segments;
  assert.deepEqual(segments('/'), ['']);
  assert.deepEqual(segments('/a/'), ['a', '']);
  assert.deepEqual(segments('//a'), ['', 'a']);
  assert.deepEqual(segments('/a//b'), ['a', '', 'b']);
  assert.deepEqual(segments('/__proto__'), ['__proto__']);
  assert.equal(parseTarget('/a?', 'GET').search, '');
  assert.equal(parseTarget('/a?b?c/d', 'GET').search, 'b?c/d');
});

test('the absolute form is parsed for its path and query', () => {
  // RFC 9112 §3.2.2
  const target = parseTarget('http://www.example.org/pub/WWW/TheProject.html', 'GET');
  assert.equal(target.path, '/pub/WWW/TheProject.html');
  assert.deepEqual(target.segments, ['pub', 'WWW', 'TheProject.html']);
  assert.equal(parseTarget('HTTPS://[::1]:8443/a?b', 'GET').search, 'b');
  for (const form of ['http://example.org', 'http://example.org/', 'http://example.org?'])
    assert.deepEqual(
      parseTarget(form, 'GET'),
      { path: '/', segments: [''], search: '', asterisk: false },
      form,
    );
  assert.deepEqual(parseTarget('http://example.org?a=b', 'OPTIONS'), {
    path: '/',
    segments: [''],
    search: 'a=b',
    asterisk: false,
  });
});

test('a target designates the server as a whole only with OPTIONS', () => {
  const whole = { path: '*', segments: [], search: '', asterisk: true };
  assert.deepEqual(parseTarget('*', 'OPTIONS'), whole);
  // RFC 9112 §3.2.4
  assert.deepEqual(parseTarget('http://www.example.org:8001', 'OPTIONS'), whole);
  assert.equal(parseTarget('http://www.example.org:8001/', 'OPTIONS').asterisk, false);
  for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'options']) refusal('*', method);
  refusal('**', 'OPTIONS');
  refusal('*?a', 'OPTIONS');
});

test('unreserved octets are decoded, other escapes are upper-cased, and nothing else is changed', () => {
  // RFC 9110 §4.2.3
  assert.equal(parseTarget('/%7Esmith/home.html', 'GET').path, '/~smith/home.html');
  assert.equal(parseTarget('/%7esmith/home.html', 'GET').path, '/~smith/home.html');
  // RFC 3986 §6.2.2
  assert.equal(parseTarget('/%7bfoo%7d', 'GET').path, '/%7Bfoo%7D');
  assert.equal(parseTarget('/%41%2d%2E%5F%7E%30', 'GET').path, '/A-._~0');
  assert.equal(parseTarget('/./b/../b/%63/%2e%2E', 'GET').path, '/./b/../b/c/..');
  const slash = parseTarget('/a%2fb', 'GET');
  assert.equal(slash.path, '/a%2Fb');
  assert.deepEqual(slash.segments, ['a/b']);
  const twice = parseTarget('/%2541', 'GET');
  assert.equal(twice.path, '/%2541');
  assert.deepEqual(twice.segments, ['%41']);
  const utf8 = parseTarget('/%c3%bc/%E2%82%AC/%F0%9F%98%80/%EF%BB%BFx', 'GET');
  assert.equal(utf8.path, '/%C3%BC/%E2%82%AC/%F0%9F%98%80/%EF%BB%BFx');
  assert.deepEqual(utf8.segments, ['ü', '€', '😀', '\ufeffx']);
  assert.deepEqual(parseTarget('/%00%0A', 'GET').segments, ['\0\n']);
  assert.equal(parseTarget('/a?%7e%2f=%c3', 'GET').search, '%7e%2f=%c3');
});

test('a path that is not UTF-8 is rejected', () => {
  const broken = [
    ...['%80', '%C0%AF', '%C1%81', '%E0%80%AF', '%ED%A0%80', '%F4%90%80%80', '%F8%88%80%80%80', '%C3'],
    '%C3a',
  ];
  for (const octets of [...broken, '%FF', '%FE', '%C3%2F']) refusal(`/${octets}`);
  assert.match(refusal('/a/%ff/b').detail, /Segment 2 /);
  // An escape must not be completed across a slash.
  refusal('/%C3/%BC');
});

test('a path may contain path characters only, and the error names the fault and its position', () => {
  const allowed = "ABCXYZabcxyz0189-._~!$&'()*+,;=:@/";
  for (let code = 0; code < 0x180; code += 1) {
    const character = String.fromCharCode(code);
    if (allowed.includes(character) || /[A-Za-z0-9]/.test(character)) {
      assert.equal(parseTarget(`/a${character}`, 'GET').path, `/a${character}`);
    } else if (character !== '?') {
      const { detail, members } = refusal(`/a${character}`);
      assert.equal(members['position'], 3);
      if (character === '%' || character === '#') continue;
      const visible = code > 0x20 && code < 0x7f;
      const name = visible ? character : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
      assert.ok(detail.includes(`character ${name} `) && detail.includes('position 3'), detail);
    }
  }
  for (const broken of ['%', '%4', '%4g', '%g4', '%%41', '% 1', '%+1', '%0x'])
    assert.equal(refusal(`/ab${broken}`).members['position'], 4, broken);
  assert.match(refusal('/a#b').detail, /fragment/);
  assert.match(refusal('http://example.org#b', 'OPTIONS').detail, /fragment/);
});

test('a query may contain the characters that browsers send, and no others', () => {
  const raw = "-._~!$&'()*+,;=:@/?[]{}|^`aZ09";
  assert.equal(parseTarget(`/?${raw}`, 'GET').search, raw);
  for (const character of ['"', '<', '>', '#', '\\', ' ', '\t', '\0', '\x7f', 'ü', '\u00ff', '€'])
    assert.equal(refusal(`/?a${character}`).members['position'], 4, character);
  for (const broken of ['%', '%4', '%zz', 'a=%2']) refusal(`/?${broken}`);
});

test('a target in none of the forms of a target is rejected', () => {
  const others = [
    ...['', 'a', 'a/b', '?a', '#', 'www.example.com:80', 'ftp://a/b', 'http:/a', 'http:a', 'http//a'],
    'http://',
  ];
  others.push(
    'http:///a',
    'http://:80/',
    'http://u@a/',
    'http://u:p@a/b',
    'http://a b/',
    'http://a:65536/',
    'http://[::1/',
  );
  others.push(' /a', '\\a', 'javascript:alert(1)', 'file:///etc/passwd', 'http://a\\@b/', 'ws://a/b');
  for (const target of others) for (const method of ['GET', 'OPTIONS', 'CONNECT']) refusal(target, method);
});

test('segments are decoded from any encoding, and equivalent paths are normalized to the same path', () => {
  const random = seeded();
  const hex = (octet: number): string => octet.toString(16).padStart(2, '0');
  for (let round = 0; round < 2000; round += 1) {
    const segments = Array.from({ length: 1 + random.below(4) }, () => random.text('ab~./%?# ü€😀\0"<', 6));
    const encode = (segment: string): string =>
      [...Buffer.from(segment)]
        .map((octet) => {
          const character = String.fromCharCode(octet);
          if (/[A-Za-z0-9~.]/.test(character) && random.below(2) === 0) return character;
          return `%${random.below(2) === 0 ? hex(octet) : hex(octet).toUpperCase()}`;
        })
        .join('');
    const target = `/${segments.map(encode).join('/')}`;
    const parsed = parseTarget(target, 'GET');
    const message = `${target}, seed ${random.seed}`;
    assert.deepEqual(parsed.segments, segments, message);
    assert.equal(
      parsed.path,
      `/${segments.map((segment) => encodeURIComponent(segment)).join('/')}`,
      message,
    );
    assert.deepEqual(parseTarget(parsed.path, 'GET'), parsed, message);
  }
});

test('every target is either parsed into valid parts or rejected with a Problem', () => {
  const random = seeded();
  const pieces = [
    ...['/', '/a', '%41', '%2f', '%', '..', '?', '#', 'http://', 'a.example', ':80', '*', '%c3%bc', '%c3'],
    ...['@', '='],
  ];
  for (let round = 0; round < 5000; round += 1) {
    const target = (random.below(4) === 0 ? '' : '/') + hostile(random, pieces);
    const message = `${JSON.stringify(target)}, seed ${random.seed}`;
    try {
      const { path, segments, search, asterisk } = parseTarget(target, random.pick(['GET', 'OPTIONS']));
      if (asterisk) continue;
      if (target.startsWith('/'))
        assert.deepEqual(parseTarget(`http://a${target}`, 'GET'), parseTarget(target, 'GET'), message);
      assert.match(path, /^\/(?:[\w.~!$&'()*+,;=:@/-]|%[0-9A-F]{2})*$/, message);
      assert.equal(segments.length, path.split('/').length - 1, message);
      assert.match(search, /^[!$-;=?-[\]-~]*$/, message);
    } catch (error) {
      if (target.startsWith('/')) refusal(`http://a${target}`);
      assert.ok(error instanceof Problem && error.status === 400, `${String(error)}: ${message}`);
    }
  }
});

test('a target is split into origin, path and query as sent', () => {
  const parts = (target: string): readonly string[] => Object.values(splitTarget(target));
  assert.deepEqual(parts('/a%2fb?c=%41?d'), ['', '/a%2fb', 'c=%41?d']);
  assert.deepEqual(parts('HTTP://User.example:80/a?b'), ['HTTP://User.example:80', '/a', 'b']);
  assert.deepEqual(parts('https://a.example?b'), ['https://a.example', '/', 'b']);
  assert.deepEqual(parts('/http://a.example/?'), ['', '/http://a.example/', '']);
  assert.deepEqual(parts('*'), ['', '*', '']);
});

test('the authority that a request addresses is that of the absolute form, or else Host', () => {
  const fields = new Map([['host', 'b.example']]);
  assert.equal(addressedAuthority('http://a.example:8080/p', fields), 'a.example:8080');
  assert.equal(addressedAuthority('/http://a.example/p', fields), 'b.example');
  assert.equal(addressedAuthority('/p', new Map()), '');
});
