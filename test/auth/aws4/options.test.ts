import assert from 'node:assert/strict';
import test from 'node:test';
import { readAws4Options } from '../../../src/auth/aws4/options.ts';

const least = { region: 'eu-central-1', service: 'execute-api' };

test('the defaults are those of AWS, and depend on the service', () => {
  assert.deepEqual(readAws4Options(least, 'schemes.aws4'), {
    ...least,
    window: 900_000,
    normalizePath: true,
    doubleEncode: true,
    plusInPath: 'plus',
    unsignedPayload: false,
    errors: 'problem',
    replay: 'allow',
  });
  const s3 = readAws4Options({ ...least, service: 's3' }, 'schemes.aws4');
  assert.deepEqual([s3.normalizePath, s3.doubleEncode, s3.plusInPath], [false, false, 'space']);
  assert.equal(readAws4Options({ ...least, service: 's3', doubleEncode: true }, 'x').doubleEncode, true);
});

const refused: [value: unknown, message: string][] = [
  [undefined, 'schemes.aws4: an object is expected'],
  [[], 'schemes.aws4: an object is expected'],
  [{ service: 's3' }, 'schemes.aws4.region: a value is required'],
  [{ region: 'eu-central-1' }, 'schemes.aws4.service: a value is required'],
  [
    { ...least, region: '' },
    'schemes.aws4.region: 1 to 64 letters, digits, hyphens and underscores are expected',
  ],
  [
    { ...least, region: 'a/b' },
    'schemes.aws4.region: 1 to 64 letters, digits, hyphens and underscores are expected',
  ],
  [{ ...least, regoin: 'x' }, 'schemes.aws4.regoin: unknown key; did you mean "region"?'],
  [
    { ...least, window: '900' },
    'schemes.aws4.window: a whole number of seconds from 1 to 86400 or text such as 5m is expected',
  ],
  [
    { ...least, window: 0 },
    'schemes.aws4.window: a whole number of seconds from 1 to 86400 or text such as 5m is expected',
  ],
  [{ ...least, doubleEncode: 'no' }, 'schemes.aws4.doubleEncode: true or false is expected'],
  [{ ...least, errors: 'awss' }, 'schemes.aws4.errors: "awss" is not known; did you mean "aws"?'],
  [{ ...least, replay: true }, 'schemes.aws4.replay: true is not known; known are allow, refuse'],
];
for (const [value, message] of refused) {
  test(`the options ${JSON.stringify(value)} are rejected`, () => {
    assert.throws(() => readAws4Options(value, 'schemes.aws4'), new RangeError(message));
  });
}
