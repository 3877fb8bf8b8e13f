import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFormType, parseMediaType } from '../../../src/http/headers/media-type.ts';
import { quote } from '../../../src/http/syntax/quoted-string.ts';
import { hostile } from '../../support/http/hostile.ts';
import { seeded } from '../../support/seeded.ts';

test('the four spellings in RFC 9110 §8.3.1 are one media type', () => {
  const spellings = [
    'text/html;charset=utf-8',
    'Text/HTML;Charset="utf-8"',
    'text/html; charset="utf-8"',
    'text/html;charset=UTF-8',
  ];
  for (const value of spellings) {
    const media = parseMediaType(value);
    assert.equal(media?.type, 'text/html');
    assert.equal(media.parameters.get('charset')?.toLowerCase(), 'utf-8');
    assert.equal(media.parameters.size, 1);
  }
});

test('parameter values are unquoted and case-preserved', () => {
  const media = parseMediaType('multipart/form-data ; boundary="a;b\\"c" ;; X=Y;');
  assert.equal(media?.type, 'multipart/form-data');
  assert.deepEqual(
    [...media.parameters],
    [
      ['boundary', 'a;b"c'],
      ['x', 'Y'],
    ],
  );
  assert.equal(parseMediaType('application/vnd.example+json')?.parameters.size, 0);
});

test('an invalid media type is rejected', () => {
  const refused = [
    ...['', 'text', 'text/', '/html', 'text /html', 'text/ html', ' text/html', 'text/html '],
    'text/html,',
  ];
  refused.push(
    'text/html charset=utf-8',
    'text/html;charset',
    'text/html;charset=',
    'text/html; charset =utf-8',
  );
  refused.push(
    'text/html;charset=utf-8;charset=utf-8',
    'text/html;a=1;A=1',
    'text/html;a="b',
    'text/html;a="b"c',
  );
  refused.push('text/html;ä=1', 'téxt/html', 'text/html/x', 'text/html, text/xml');
  for (const value of refused) assert.equal(parseMediaType(value), undefined, value);
});

test('a media type that is written is read back', () => {
  const random = seeded();
  const letters = "abcXYZ019!#$%&'*+-.^_`|~";
  for (let round = 0; round < 2000; round += 1) {
    const type = `a${random.text(letters, 8)}/b${random.text(letters, 8)}`;
    const parameters = new Map<string, string>();
    for (let left = random.below(4); left > 0; left -= 1)
      parameters.set(`p${random.text(letters, 4)}`.toLowerCase(), random.text('aB1 ;,="\\/\t\u00e9', 8));
    const written = [...parameters].map(
      ([name, value]) => `${random.pick([';', ' ;', '; \t'])}${name}=${quote(value)}`,
    );
    const value = type + written.join('');
    const media = parseMediaType(value);
    const message = `${value}, seed ${random.seed}`;
    assert.equal(media?.type, type.toLowerCase(), message);
    assert.deepEqual([...media.parameters], [...parameters], message);
  }
});

test('no value makes the parser throw', () => {
  const random = seeded();
  for (let round = 0; round < 3000; round += 1) {
    const value = hostile(random, [
      ...'; "\\',
      ...['text/', 'html', 'charset=', 'utf-8', '*/*', '__proto__=x'],
    ]);
    const media = parseMediaType(value);
    if (media !== undefined)
      assert.match(media.type, /^[^\s/A-Z]+\/[^\s/A-Z]+$/, `${value}, seed ${random.seed}`);
  }
});

test('a form is recognized by its media type in any letter case, with or without parameters', () => {
  const form = 'application/x-www-form-urlencoded';
  const forms = [
    form,
    'Application/X-WWW-Form-Urlencoded',
    `${form};charset=UTF-8`,
    `${form} ; charset=UTF-8`,
  ];
  assert.deepEqual(forms.filter(isFormType), forms);
  const others = [
    `${form}-2`,
    `${form}+json`,
    `${form}, text/plain`,
    `${form} x`,
    `x-${form}`,
    '',
    undefined,
  ];
  assert.deepEqual(others.filter(isFormType), []);
});
