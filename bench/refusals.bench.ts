/**
 * Whether the time of a refusal tells who is a user here: unknown users, wrong secrets and passwords, users without
 * them, users that are disabled, unknown and known consumers of OAuth 1.0a, each refused in turns that are shuffled anew every round. Shown are the times of single
 * refusals, how they are distributed, and how far each median is from that of the unknown user: at most 2 % is wanted,
 * and the exit status says whether it is so. Hashes here have the cost that `countersign user add` gives them.
 * Run: npm run bench -- refusals, or node --import tsx bench/refusals.bench.ts [ROUNDS], 500 when left out.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createAuthentication } from '../src/authentication.ts';
import { signRequest } from '../src/client/sign.ts';
import { systemClock } from '../src/clock.ts';
import { createRequest, type Request } from '../src/http/message.ts';
import { Problem } from '../src/http/problem.ts';
import { createOrigins } from '../src/origin.ts';
import type { UserOption } from '../src/service-options.ts';
import { createMemoryStore } from '../src/store/memory.ts';
import { hashPassword } from '../src/store/passwords.ts';

/** Refusals of each HMAC case in a round: one takes microseconds, and a password milliseconds. */
const signedPerRound = 40;
const widest = 0.02;
const refusals: ReadonlySet<string> = new Set(['credentials-refused', 'oauth1-signature-invalid']);
const histogramRows = 12;
const histogramWidth = 48;

const rounds = Number(process.argv[2] ?? '500');
if (!(rounds >= 10)) throw new RangeError('ROUNDS must be at least 10');

// Names and guesses of one length, so that nothing else differs.
const hash = await hashPassword('the right one', randomBytes(16), 1024);
const secrets = [{ secret: 'first secret' }];
const users = new Map<string, UserOption>([
  ['onesecret', { secrets, password: { hash } }],
  ['twosecret', { secrets: [...secrets, { secret: 'second secret', until: Number.MAX_SAFE_INTEGER }] }],
  ['oldsecret', { secrets: [...secrets, { secret: 'second secret', until: 0 }] }],
  ['nosecrets', { secrets: [], password: { hash } }],
  ['plaintext', { secrets, password: { plain: 'the right one' } }],
  ['remembers', { secrets, password: { hash } }],
  ['nopassnot', { secrets }],
  ['notactive', { secrets, password: { hash }, disabled: true }],
]);
const { publicKey: rsaPublicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const consumers = {
  generated: { secret: randomBytes(32).toString('base64url') },
  shortened: { secret: 'a short one' },
  lengthens: { secret: 'a long one '.repeat(8) },
  keyholder: { rsaPublicKey, methods: ['RSA-SHA1'] },
} as const;
const options = { users, consumers, maxAuthFailures: 0 };
const { authenticator } = createAuthentication(options, systemClock, randomBytes, {
  store: createMemoryStore({ lineage: 'bench' }),
  origins: createOrigins(undefined),
});

const signedBy = (user: string): Request => {
  const fields = signRequest({
    method: 'GET',
    url: 'http://localhost/articles',
    user,
    secret: 'a wrong secret',
  });
  return createRequest({ method: 'GET', target: '/articles', fields: Object.entries(fields) });
};
const passwordOf = (user: string, password = 'the wrong one'): Request => {
  const value = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  return createRequest({
    method: 'GET',
    target: '/articles',
    fields: [['Authorization', value]],
    secure: true,
  });
};

/** With any signature that is as long as one by the method; it is drawn anew for each case. */
const consumedBy = (key: string, method: 'HMAC-SHA1' | 'RSA-SHA1' = 'HMAC-SHA1'): Request => {
  const parameters = {
    oauth_consumer_key: key,
    oauth_token: randomBytes(32).toString('base64url'),
    oauth_signature_method: method,
    oauth_timestamp: Math.floor(systemClock.now() / 1000),
    oauth_nonce: randomBytes(8).toString('hex'),
    oauth_signature: randomBytes(method === 'HMAC-SHA1' ? 20 : 256).toString('base64'),
  };
  const written = Object.entries(parameters).map(([name, value]) => `${name}="${encodeURIComponent(value)}"`);
  return createRequest({
    method: 'GET',
    target: '/articles',
    fields: [['Authorization', `OAuth ${written.join(', ')}`]],
    secure: true,
  });
};

interface Case {
  readonly name: string;
  readonly request: Request;
  /** In microseconds. */
  readonly times: number[];
}
const caseOf = (name: string, request: Request): Case => ({ name, request, times: [] });

const signed = [
  caseOf('unknown user', signedBy('whoisthis')),
  caseOf('wrong secret', signedBy('onesecret')),
  caseOf('user with two secrets', signedBy('twosecret')),
  caseOf('one of two has expired', signedBy('oldsecret')),
  caseOf('user without a secret', signedBy('nosecrets')),
  caseOf('disabled user', signedBy('notactive')),
];
const passwords = [
  caseOf('unknown user', passwordOf('whoisthis')),
  caseOf('wrong password', passwordOf('onesecret')),
  caseOf('wrong, the right remembered', passwordOf('remembers')),
  caseOf('wrong, kept in plain text', passwordOf('plaintext')),
  caseOf('user without a password', passwordOf('nopassnot')),
  caseOf('disabled user', passwordOf('notactive')),
];
const consumed = [
  caseOf('unknown consumer', consumedBy('whoisthis')),
  caseOf('wrong secret', consumedBy('generated')),
  caseOf('wrong, the right is short', consumedBy('shortened')),
  caseOf('wrong, the right is long', consumedBy('lengthens')),
  caseOf('consumer without a secret', consumedBy('keyholder')),
];
const keyed = [
  caseOf('unknown consumer', consumedBy('whoisthis', 'RSA-SHA1')),
  caseOf('wrong key', consumedBy('keyholder', 'RSA-SHA1')),
  caseOf('consumer without a key', consumedBy('generated', 'RSA-SHA1')),
];

await authenticator.authenticate(passwordOf('remembers', 'the right one'));
await measure(signed, 20, signedPerRound);
await measure(passwords, 5, 1);
await measure(consumed, 20, signedPerRound);
await measure(keyed, 20, signedPerRound);
for (const { times } of [...signed, ...passwords, ...consumed, ...keyed]) times.length = 0;
await measure(signed, rounds, signedPerRound);
await measure(passwords, rounds, 1);
await measure(consumed, rounds, signedPerRound);
await measure(keyed, rounds, signedPerRound);
console.log(`Node ${process.version}, ${rounds} rounds`);
const within = [
  report('HMAC', signed),
  report('Basic', passwords),
  report('OAuth 1.0a, HMAC-SHA1', consumed),
  report('OAuth 1.0a, RSA-SHA1', keyed),
];
if (within.includes(false)) process.exitCode = 1;

async function measure(cases: readonly Case[], count: number, each: number): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    for (let turn = 0; turn < each; turn += 1) {
      for (const one of shuffled(cases)) one.times.push(await refusal(one.request));
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function refusal(request: Request): Promise<number> {
  const begun = process.hrtime.bigint();
  try {
    await authenticator.authenticate(request); // what is refused at once is thrown before the wait
  } catch (error) {
    const ended = process.hrtime.bigint();
    if (error instanceof Problem && refusals.has(error.type)) return Number(ended - begun) / 1000;
    throw error;
  }
  throw new Error('it was not refused');
}

function shuffled<T>(items: readonly T[]): T[] {
  const keyed = items.map((item) => ({ item, key: randomBytes(4).readUInt32LE() }));
  return keyed.sort((one, other) => one.key - other.key).map(({ item }) => item);
}

function percentile(sorted: readonly number[], percent: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}

/** Prints the figures; gives whether all medians are near enough. */
function report(title: string, cases: readonly Case[]): boolean {
  const columns = ['min', 'p5', 'median', 'p95', 'from the first'];
  console.log(`\n${`${title} (µs)`.padEnd(30)}${columns.map((column) => column.padStart(15)).join('')}`);
  const sorted = cases.map(({ times }) => times.toSorted((one, other) => one - other));
  const first = percentile(sorted[0] ?? [], 50);
  let farthest = 0;
  for (const [index, { name }] of cases.entries()) {
    const times = sorted[index] ?? [];
    const off = percentile(times, 50) / first - 1;
    farthest = Math.max(farthest, Math.abs(off));
    const figures = [0, 5, 50, 95].map((percent) => percentile(times, percent).toFixed(2));
    console.log([name.padEnd(30), ...[...figures, percentOf(off)].map((cell) => cell.padStart(15))].join(''));
  }
  histogram(cases, sorted);
  console.log(`farthest from the first: ${percentOf(farthest)}, wanted: within ${percentOf(widest)}`);
  return farthest <= widest;
}

function percentOf(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

/** Each case's share of the times between the smallest p1 and the greatest p95, in rows from fast to slow. */
function histogram(cases: readonly Case[], sorted: readonly (readonly number[])[]): void {
  const low = Math.min(...sorted.map((times) => percentile(times, 1)));
  const high = Math.max(...sorted.map((times) => percentile(times, 95)));
  const step = (high - low) / histogramRows;
  for (const [index, { name }] of cases.entries()) {
    const times = sorted[index] ?? [];
    console.log(`  ${name}`);
    for (let row = 0; row < histogramRows; row += 1) {
      const from = low + row * step;
      const share = times.filter((time) => time >= from && time < from + step).length / times.length;
      console.log(`  ${from.toFixed(2).padStart(10)} ${'#'.repeat(Math.round(share * histogramWidth))}`);
    }
  }
}
