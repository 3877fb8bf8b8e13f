import assert from 'node:assert/strict';
import test from 'node:test';
import type { ServiceOptions } from '../../src/index.ts';
import { openService } from '../support/service/open-service.ts';

test('creating a service with invalid options throws a RangeError', () => {
  const refused: [options: ServiceOptions, reason: RegExp][] = [
    [{ users: { ann: { secrets: [], password: { hash: 'pw' } } } }, /hash of the user "ann"/],
    [{ users: { ann: { secret: 'ann-secret', password: '' } } }, /password of the user "ann"/],
    [{ users: { ann: { secrets: [], password: { plain: '' } } } }, /password.plain of the user "ann"/],
    [{ users: { ann: { secret: '' } } }, /secret of the user "ann" must be non-empty text/],
    [{ window: Number.NaN }, /window is not/],
    [{ window: -1 }, /window is not/],
    [{ window: Number.MAX_VALUE }, /window is not/],
    [JSON.parse('{"hmacSimple":"never"}'), /hmacSimple is not one of/],
    [JSON.parse('{"hmacSimple":false}'), /hmacSimple is not one of/],
    [JSON.parse('{"users":{"ann":{"secret":"ann-secret","password":null}}}'), /password of the user "ann"/],
    [JSON.parse('{"users":{"ann":{"secret":"ann-secret","disabled":"true"}}}'), /disabled of the user "ann"/],
    [{ maxAuthFailures: Number.NaN }, /failed authentications/],
    [{ maxAuthFailures: -1 }, /failed authentications/],
    [{ realm: 'two\r\nlines' }, /quoted string/],
    [{ trustProxy: ['everybody'] }, /"everybody" is not a network/],
  ];
  for (const [options, reason] of refused) {
    assert.throws(() => openService(options), { name: 'RangeError', message: reason });
  }
});
