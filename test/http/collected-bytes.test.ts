import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readBytes } from '../../src/collections/formats/bytes.ts';
import { jsonDecoder } from '../../src/collections/formats/json/decoder.ts';
import { CollectedBytes } from '../../src/http/collected-bytes.ts';
import { formatDate } from '../../src/http/headers/date.ts';
import { createRequest, type IncomingRequest, readAll } from '../../src/http/message.ts';
import { parseTarget } from '../../src/http/target.ts';
import { readJson } from '../../src/index.ts';
import type { MaybePromise } from '../../src/maybe-promise.ts';
import { CallContext } from '../../src/pipeline/call.ts';
import { GzipQueue } from '../../src/pipeline/gzip-queue.ts';
import { readContent } from '../../src/pipeline/request-body.ts';
import type { ContentReader, Decoder } from '../../src/pipeline/resource.ts';

import { buildShape } from '../support/collections/decode.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Content that a client sends in chunks of one byte. */
const length = 200_000;

function used(): number {
  collectGarbage();
  collectGarbage(); // ends the sweep of the first, which frees array buffers
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Passes the content to a reader, and returns how many bytes the reader holds then. */
function heldBy(write: (chunk: Uint8Array) => void): number {
  const before = used();
  const memory = Buffer.alloc(1, ' ');
  for (let sent = 0; sent < length; sent += 1) write(memory);
  return used() - before;
}

async function heldWhileGathered(): Promise<number> {
  let held = 0;
  await readAll(length, async (take) => {
    held = heldBy(take);
  });
  return held;
}

async function heldWhilePacked(): Promise<number> {
  let held = 0;
  const request: IncomingRequest = {
    ...createRequest({ method: 'POST', target: '/', headers: [['Content-Encoding', 'gzip']] }),
    body: {
      present: true,
      consume: async (sink) => {
        held = heldBy(sink);
      },
      hold: () => Promise.resolve(new Uint8Array()),
    },
  };
  const decoder = { write: () => undefined, end: () => undefined };
  await assert.rejects(readContent({ incoming: request, gzip: new GzipQueue() }, decoder, length, false));
  return held;
}

const ofAnyType: ContentReader = readBytes;
const call = new CallContext(
  {
    request: createRequest({ method: 'POST', target: '/' }),
    method: 'POST',
    target: parseTarget('/', 'POST'),
    route: { template: '/', resource: {}, parameters: {} },
  },
  undefined,
  0,
  { httpDate: formatDate, gzip: new GzipQueue() },
);

const readers: readonly (readonly [name: string, held: () => number | Promise<number>])[] = [
  ['in JSON', () => heldByDecoder(jsonDecoder(buildShape({}), { partial: false, maxDepth: 10 }))],
  ['of any type', () => heldByDecoder(ofAnyType.decoder(call))],
  ['of readJson', () => heldByDecoder(readJson.decoder(call))],
  ['read ahead', heldWhileGathered],
  ['in gzip', heldWhilePacked],
];

async function heldByDecoder(made: MaybePromise<Decoder>): Promise<number> {
  const decoder = await made;
  return heldBy((chunk) => decoder.write(chunk));
}

for (const [name, held] of readers) {
  test(`content ${name} that arrives byte by byte uses less than 8 times its length in memory`, async () => {
    const kept = await held();
    assert.ok(kept < 8 * length, `${kept} bytes for ${length}`);
  });
}

test('chunks of any length are collected in order, and are copies', () => {
  const collected = new CollectedBytes();
  assert.equal(collected.bytes.length, 0);
  const chunk = Buffer.alloc(1000);
  const expected: number[] = [];
  for (const size of [0, 1, 1000, 3, 999, 0, 500]) {
    for (let at = 0; at < size; at += 1) {
      chunk[at] = (size + at) % 256;
      expected.push((size + at) % 256);
    }
    collected.write(chunk.subarray(0, size));
    chunk.fill(0);
  }
  assert.deepEqual([...collected.bytes], expected);
});
