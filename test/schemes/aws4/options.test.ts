import assert from 'node:assert/strict';
import test from 'node:test';
import { readAws4Options } from '../../../src/schemes/aws4/options.ts';

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
  [
    { service: 's3' },
    'schemes.aws4.region must be 1 to 64 letters, digits, hyphens and underscores, is missing',
  ],
  [
    { region: 'eu-central-1' },
    'schemes.aws4.service must be 1 to 64 letters, digits, hyphens and underscores, is missing',
  ],
  [
    { ...least, region: 'a/b' },
    'schemes.aws4.region must be 1 to 64 letters, digits, hyphens and underscores, is a string',
  ],
  [
    { ...least, window: 0 },
    'schemes.aws4.window must be a whole number of seconds from 1 to 86400 or text such as 5m, is 0',
  ],
  [
    { ...least, errors: 'awss' },
    'schemes.aws4.errors must be one of problem, aws, is "awss"; did you mean "aws"?',
  ],
];
for (const [value, message] of refused) {
  test(`the options ${JSON.stringify(value)} are rejected`, () => {
    assert.throws(() => readAws4Options(value, 'schemes.aws4'), new RangeError(message));
  });
}
