import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Crc32, crc32, createCrc32 } from '../../../src/store/encoding/crc32.ts';
import { seeded } from '../../support/seeded.ts';

/** Text, its checksum, and that of it after something with the checksum 12345678: by zlib.crc32 of Python. */
const known: readonly [text: string, alone: number, after: number][] = [
  ['', 0x0, 0x12345678],
  ['a', 0xe8b7be43, 0xb67b731b],
  ['123456789', 0xcbf43926, 0x1f4807b],
  ['\u017e\u0142\u20ac\u{1f600}', 0x9e9154d6, 0x2339b6e7],
  ['\0'.repeat(32), 0x190a55ad, 0x4fd65939],
];

for (const [name, sum] of [
  ['the one in use', crc32],
  ['the one by a table', createCrc32()],
] as const satisfies readonly (readonly [string, Crc32])[]) {
  test(`${name} gives what zlib gives`, () => {
    for (const [text, alone, after] of known) {
      for (const data of [text, Buffer.from(text)]) {
        assert.equal(sum(data), alone, text);
        assert.equal(sum(data, 0x12345678), after, text);
      }
    }
    assert.equal(sum(Uint8Array.from({ length: 256 }, (_, byte) => byte)), 0x29058c73);
  });

  test(`${name} goes on from what comes before`, () => {
    const random = seeded();
    const bytes = Uint8Array.from({ length: 1000 }, () => random.below(256));
    for (let round = 0; round < 200; round += 1) {
      const cut = random.below(1001);
      const whole = sum(bytes.subarray(cut), sum(bytes.subarray(0, cut)));
      assert.equal(whole, sum(bytes), `SEED=${random.seed}, cut at ${cut}`);
    }
  });
}
