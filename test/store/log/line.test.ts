import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatChecksum } from '../../../src/store/log/line.ts';

test('a checksum has eight lower-case hexadecimal digits', () => {
  const cases = [
    [0, '00000000'],
    [9, '00000009'],
    [0xa0b, '00000a0b'],
    [0x7fffffff, '7fffffff'],
    [0x80000000, '80000000'],
    [0xdeadbeef, 'deadbeef'],
    [0xffffffff, 'ffffffff'],
  ] as const;
  for (const [checksum, text] of cases) assert.equal(formatChecksum(checksum), text);
});
