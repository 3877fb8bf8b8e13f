import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where a whole run keeps what was said in it: a directory. Without it nothing is kept. */
const directory = process.env['TEST_TRANSCRIPT'];
/** As many characters are gathered before they are written. */
const gathered = 1_000_000;
/** Of one reply or output, in characters: what is longer is more of the same. */
const most = 200_000;
/** What begins the line of a secret. */
const mark = '\u0001secret ';

let pending = '';

function write(): void {
  if (directory !== undefined && pending !== '')
    appendFileSync(join(directory, `${process.pid}.txt`), pending);
  pending = '';
}

if (directory !== undefined) process.once('exit', write);

function keep(line: string): void {
  if (directory === undefined) return;
  pending += `${line}\n`;
  if (pending.length > gathered) write();
}

/** Keeps what a server or a command said: a reply, its output, its log. */
export function keepSaid(said: string): void {
  keep(said.slice(0, most).replaceAll(mark, ''));
}

/** Keeps a secret, a password or a signature that nobody may say. One of a few letters may stand in any text. */
export function keepSecret(secret: string): void {
  if (secret.length >= 10 && !secret.includes('\n')) keep(mark + secret);
}

/** What the search of a transcript came to. */
interface Search {
  /** How many secrets were looked for, and in how many characters. */
  readonly secrets: number;
  readonly characters: number;
  /** Every secret that was said, with what stands around it. */
  readonly leaks: readonly string[];
}

const signature = /[A-Za-z0-9+/]{43}=/g;

/** Searches what a run kept in a directory for every secret that it kept. */
export function searchTranscript(path: string): Search {
  const lines = readdirSync(path).flatMap((name) => readFileSync(join(path, name), 'utf8').split('\n'));
  const isSecret = (line: string): boolean => line.startsWith(mark);
  const secrets = new Set(lines.filter(isSecret).map((line) => line.slice(mark.length)));
  const said = lines.filter((line) => !isSecret(line)).join('\n');
  const around = (at: number): string => JSON.stringify(said.slice(Math.max(0, at - 200), at + 200));
  // Signatures are many and all of one form, so they are looked up; the others are few.
  const signatures = Array.from(said.matchAll(signature)).filter(([found]) => secrets.has(found));
  const others = [...secrets].filter((secret) => secret.match(signature)?.[0] !== secret);
  const places = others.map((secret) => said.indexOf(secret)).filter((at) => at >= 0);
  return {
    secrets: secrets.size,
    characters: said.length,
    leaks: [...signatures.map(({ index }) => index), ...places].map(around),
  };
}
