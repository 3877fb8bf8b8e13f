/**
 * Loading: a snapshot of articles as a start does it, beside one plain JSON.parse of the same document, each in a
 * process of its own, in turn. Time is that of the processor as well as that of the clock, for other processes slow a
 * run down; memory is what is resident at the end. Then what a first read costs of an item that nobody has read yet.
 * Run: node --import tsx bench/store/load.bench.ts [COUNT] [ROUNDS], 1,000,000 articles and 5 rounds when left out.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeDisk } from '../../src/store/disk.ts';
import { readSnapshot } from '../../src/store/snapshot-reader.ts';
import { writeSnapshot } from '../../src/store/snapshot-writer.ts';
import { State } from '../../src/store/state.ts';

const collection = '/articles';
const contestants = ['plain JSON.parse', 'a start'] as const;
type Contestant = (typeof contestants)[number];

/** What a process measures: milliseconds, and bytes. */
interface Measured {
  readonly elapsed: number;
  readonly processor: number;
  readonly resident: number;
  readonly firstRead: number;
}

const [, , first = '1000000', second = '5', path] = process.argv;
const count = Number(first.replaceAll(/[_,]/g, ''));
const rounds = Number(second);
if (!(count >= 1 && count <= 1e8)) throw new RangeError('COUNT must be from 1 to 100,000,000');
if (path === undefined) compare();
else if (second === contestants[0]) console.log(JSON.stringify(measurePlain(path)));
else console.log(JSON.stringify(await measureStart(path)));

function compare(): void {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-load-'));
  try {
    const file = join(directory, 'store.json');
    write(file);
    console.log(
      `${count.toLocaleString('en')} articles, ${megabytes(statSync(file).size)}, Node ${process.version}`,
    );
    const results = new Map<Contestant, Measured[]>(contestants.map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1)
      for (const name of contestants) results.get(name)?.push(inProcess(name, file));
    const [plain, start] = contestants.map((name) => tell(name, results.get(name) ?? []));
    if (plain === undefined || start === undefined) return;
    console.log(`ratio: ${(start.elapsed / plain.elapsed).toFixed(2)} by the clock, \
${(start.processor / plain.processor).toFixed(2)} of the processor`);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function write(file: string): void {
  const state = new State();
  for (let number = 1; number <= count; number += 1) {
    const price = { value: (number / 100).toFixed(2), currency: 'EUR' };
    const value = { title: `A title as an article may have it, ${number}`, price };
    const at = Date.UTC(2024, 1, 29) + number;
    const prepared = state.prepare({ kind: 'create', collection, value, at });
    if (prepared !== undefined) state.commit(prepared);
  }
  const head = { lineage: 'bench', generation: 1, revision: count, sequence: count, written: 0 };
  const descriptor = openSync(file, 'w');
  for (const part of writeSnapshot(head, state, () => count)) writeSync(descriptor, part);
  closeSync(descriptor);
}

function inProcess(name: Contestant, file: string): Measured {
  const args = [...process.execArgv, import.meta.filename, String(count), name, file];
  const child = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (child.status !== 0) throw new Error(child.stderr);
  const measured: Measured = JSON.parse(child.stdout);
  return measured;
}

function measurePlain(file: string): Measured {
  const text = readFileSync(file, 'utf8');
  const begun = performance.now();
  const before = process.cpuUsage();
  const value: unknown = JSON.parse(text);
  const elapsed = performance.now() - begun;
  const processor = processorSince(before);
  if (value === undefined) throw new Error('nothing was parsed');
  return { elapsed, processor, resident: process.memoryUsage.rss(), firstRead: 0 };
}

/** Reading the file is part of it here, and not of the plain one. */
async function measureStart(file: string): Promise<Measured> {
  const begun = performance.now();
  const before = process.cpuUsage();
  const snapshot = await readSnapshot(nodeDisk, file);
  const elapsed = performance.now() - begun;
  const processor = processorSince(before);
  const resident = process.memoryUsage.rss();
  if (snapshot?.state.collection(collection)?.count !== count) throw new Error('not all was loaded');
  const reading = performance.now();
  for (let read = 0; read < 1000; read += 1)
    snapshot.state.read(collection, String(1 + ((read * 7919) % count)));
  return { elapsed, processor, resident, firstRead: (performance.now() - reading) / 1000 };
}

function processorSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Prints the medians and gives them. */
function tell(name: Contestant, all: readonly Measured[]): Measured {
  const median = (of: (one: Measured) => number): number =>
    all.map(of).sort((one, other) => one - other)[Math.floor(all.length / 2)] ?? 0;
  const measured = {
    elapsed: median(({ elapsed }) => elapsed),
    processor: median(({ processor }) => processor),
    resident: median(({ resident }) => resident),
    firstRead: median(({ firstRead }) => firstRead),
  };
  const read = name === 'a start' ? `, a first read ${(measured.firstRead * 1000).toFixed(0)} us` : '';
  console.log(`${name}: ${measured.elapsed.toFixed(0)} ms, ${measured.processor.toFixed(0)} ms of the processor, \
${megabytes(measured.resident)} resident${read}`);
  return measured;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
