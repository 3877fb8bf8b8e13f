import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CorruptionError } from '../../src/store/corruption-error.ts';
import { ExportFormatter, ExportReader, type Imported } from '../../src/store/export.ts';
import { State } from '../../src/store/state/state.ts';
import { type Seeded, seeded } from '../support/seeded.ts';
import { begun } from '../support/store/history.ts';
import { make, seen } from '../support/store/snapshot.ts';

function formatExport(state: State): string {
  const formatter = new ExportFormatter({ at: begun, includes: () => true });
  const lines = Array.from(state.records('k3x9', begun), (part) => formatter.part(part));
  return `${lines.join('')}${formatter.end()}`;
}

/** Reads an export that comes in pieces of up to so many bytes. */
function read(bytes: Buffer, most = bytes.length): Imported {
  const reader = new ExportReader({ file: 'export', now: begun, findFault: () => undefined });
  let rest = Buffer.alloc(0);
  for (let at = 0; at < bytes.length; at += most) {
    const next = Buffer.concat([rest, bytes.subarray(at, at + most)]);
    rest = next.subarray(reader.take(next, false));
  }
  reader.take(rest, true);
  return reader.result();
}

/** A state that random changes made. */
function someState(random: Seeded): State {
  const state = new State();
  for (let count = random.below(60); count > 0; count -= 1) {
    const collection = random.pick(['/a', '/b', '/ž']);
    const { entries } = state.list(collection, 0, 100);
    const present = entries.length === 0 ? undefined : random.pick(entries);
    const at = begun + random.below(1e6);
    const value = { text: random.text('abž"\\\n\u2028', 9), n: random.below(100), list: [true, 1.5] };
    const id = random.pick([() => String(1 + random.below(40)), () => random.text('až', 5)])();
    const put = { kind: 'put', collection, value, at } as const;
    const kind = random.below(4);
    if (present !== undefined && kind === 0)
      make(state, { kind: 'delete', collection, id: present.id, expected: present.revision, at });
    else if (present !== undefined && kind === 1)
      make(state, { ...put, id: present.id, expected: present.revision });
    else if (state.read(collection, id) === undefined && kind === 2)
      make(state, { ...put, id, expected: 'absent' });
    else make(state, { kind: 'create', collection, value, at });
  }
  return state;
}

describe('an export', () => {
  test('is read back to the state that was written, in chunks of any length', () => {
    const random = seeded();
    for (let round = 0; round < 150; round += 1) {
      const why = `SEED=${random.seed}, round ${round}`;
      const state = someState(random);
      const { storeId, state: found } = read(Buffer.from(formatExport(state)), 1 + random.below(200));
      assert.equal(storeId, 'k3x9', why);
      assert.deepEqual(seen(found), seen(state), why);
    }
  });

  test('is rejected if a number in it is above 2^52', () => {
    const header = '{"format":"countersign-export","version":1}';
    const tooHigh = String(2 ** 52 + 1);
    for (const line of [
      `{"collection":"/a","counter":${tooHigh}}`,
      `{"collection":"/a","sequence":${tooHigh}}`,
      `{"collection":"/a","revision":${tooHigh}}`,
      `{"collection":"/a","id":"x","sequence":${tooHigh},"value":{}}`,
      `{"collection":"/a","id":"x","revision":${tooHigh},"value":{}}`,
    ]) {
      const text = (each: string) => Buffer.from(`${header}\n${each}\n{"end":true}\n`);
      assert.throws(() => read(text(line)), /line 2.* is above 4503599627370496/, line);
      read(text(line.replace(tooHigh, String(2 ** 52))));
    }
  });

  test('with a space added to its last line is rejected as changed', () => {
    const text = formatExport(someState(seeded(1)));
    const edited = Buffer.from(text.replace('"crc":', '"crc": '));
    assert.throws(() => read(edited), /the export was changed since it was written/);
  });

  test('with random damage is rejected with the position, or counts as edited', () => {
    const random = seeded();
    for (let round = 0; round < 1500; round += 1) {
      const why = `SEED=${random.seed}, round ${round}`;
      const text = Buffer.from(formatExport(someState(random)));
      const place = random.below(text.length);
      const damaged = random.pick([
        () => Buffer.concat([text.subarray(0, place), text.subarray(place + 1 + random.below(99))]),
        () =>
          Buffer.concat([text.subarray(0, place), Buffer.from([random.below(256)]), text.subarray(place)]),
        () => Buffer.from(text.map((byte, at) => (at === place ? byte ^ (1 << random.below(8)) : byte))),
      ])();
      if (damaged.equals(text.subarray(0, damaged.length)) && text.length - damaged.length < 2) continue;
      try {
        const { storeId } = read(damaged);
        // Without the member, it is an edited export.
        assert.equal(storeId, undefined, why);
      } catch (error) {
        assert.ok(error instanceof CorruptionError, `${why}: ${error}`);
        assert.ok(error.location !== undefined, why);
      }
    }
  });

  test('that was edited is rejected, or read with valid sequences and revisions', () => {
    const random = seeded();
    const members = [
      'id',
      'sequence',
      'revision',
      'modified',
      'value',
      'counter',
      'chosen',
      'collection',
      'end',
    ];
    const values = [
      '0',
      '-1',
      '1e999',
      '""',
      'null',
      '[[1,2]]',
      '{}',
      '"2013-04-20T12:59:24.007Z"',
      '9007199254740991',
    ];
    for (let round = 0; round < 1500; round += 1) {
      const why = `SEED=${random.seed}, round ${round}`;
      const name = random.pick(members);
      const text = formatExport(someState(random))
        .replace('"storeId":"k3x9",', '')
        .split('\n')
        .map((line) =>
          random.below(8) === 0
            ? line.replace(new RegExp(`"${name}":("[^"]*"|[0-9]+)`), `"${name}":${random.pick(values)}`)
            : line,
        )
        .join('\n');
      try {
        const { state } = read(Buffer.from(text));
        const views = [...state.collections()].flatMap(({ entries }) => [...entries]);
        for (const { sequence, revision } of views) assert.ok(sequence > 0 && revision > 0, why);
      } catch (error) {
        assert.ok(error instanceof CorruptionError, `${why}: ${error}`);
      }
    }
  });
});
