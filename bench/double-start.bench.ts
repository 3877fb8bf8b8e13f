/**
 * What a test double costs: loading it, starting the first one and later ones, with HTTPS and without, an answer in
 * process and one over a socket, and what a thousand that are started and closed one after the other leave behind. Times are those of
 * the processor in this process (user and system), so that what else runs on the machine counts little; medians. Each
 * round is a process of its own. Needs `npm run build`. Run: node --import tsx bench/double-start.bench.ts [ROUNDS]
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const library = join(import.meta.dirname, '../dist/cjs/double/index.js');

const common = `
const cost = async (work) => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};
const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];
const told = {};
(async () => {`;

const starts = `${common}
  let startDouble;
  told['load'] = await cost(() => { ({ startDouble } = require(${JSON.stringify(library)})); });
  let double;
  told['start the first, HTTP alone'] = await cost(async () => { double = await startDouble({ users: ['ann'], https: false }); });
  await double.close();
  told['start the first with HTTPS'] = await cost(async () => { double = await startDouble({ users: ['ann'] }); });
  for (const [name, https] of [['HTTP alone', false], ['with HTTPS', true]]) {
    const [starting, closing] = [[], []];
    for (let count = 0; count < 40; count += 1) {
      let next;
      starting.push(await cost(async () => { next = await startDouble({ users: ['ann'], https }); }));
      closing.push(await cost(() => next.close()));
    }
    told['start, ' + name] = median(starting);
    told['close, ' + name] = median(closing);
  }
  const ask = (calls, call) => cost(async () => { for (let count = 0; count < calls; count += 1) await (await call()).text(); });
  const kinds = {
    'fetch in process': () => double.fetch('/articles'),
    'signed fetch in process': () => double.as('ann').fetch('/articles'),
    'fetch over a socket (both sides)': () => fetch(double.url + '/articles'),
  };
  for (const [name, call] of Object.entries(kinds)) {
    await ask(2000, call);
    told[name + ', one'] = (await ask(4000, call)) / 4000;
  }
  await double.close();
  console.log(JSON.stringify(told));
})();`;

const thousand = `${common}
  const { startDouble } = require(${JSON.stringify(library)});
  const round = async (count) => {
    for (let at = 0; at < count; at += 1) {
      const double = await startDouble({ users: ['ann'] });
      await double.as('ann').fetch('/articles');
      await double.close();
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    gc();
    return process.memoryUsage().heapUsed / 2 ** 20;
  };
  await round(50);
  const before = await round(50);
  told['heap growth over a thousand doubles (MiB)'] = (await round(1000)) - before;
  told['resources that are left'] = process.getActiveResourcesInfo().filter((name) => /TCP|Timer|TLS/.test(name)).length;
  console.log(JSON.stringify(told));
})();`;

function run(script: string): Record<string, number> {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--expose-gc', '-e', script], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

const rounds = Number(process.argv[2] ?? 9);
const all = Array.from({ length: rounds }, () => run(starts));
const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;
console.log(
  `ms of processor time, ${rounds} rounds, Node ${process.version}, ${availableParallelism()} cores`,
);
for (const name of Object.keys(all[0] ?? {})) {
  const figures = all.map((round) => round[name] ?? Number.NaN);
  console.log(
    `${name.padEnd(44)} ${median(figures).toFixed(3).padStart(9)}   ${Math.min(...figures).toFixed(3)} to ${Math.max(...figures).toFixed(3)}`,
  );
}
for (const [name, figure] of Object.entries(run(thousand)))
  console.log(`${name.padEnd(44)} ${figure.toFixed(2).padStart(9)}`);
