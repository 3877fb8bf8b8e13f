/** The article, from a Buffer to its title, price and currency; `JSON.parse` reads the same from JSON. */
import { ARTICLE, ARTICLE_JSON } from './documents.ts';
import { peerOf } from './peers.ts';
import { compare, cpuTime, task } from './rounds.ts';

const ARTICLES = 200_000;
const EXPECTED = '{"title":"The Old Man and the Sea","price":"12.30","currency":"EUR"}';

const given = task();
if (given === undefined) compare(import.meta.filename, ['article'], 'ns of CPU time for each');
else await measure(given.peer);

async function measure(name: string): Promise<void> {
  const read = (await peerOf(name))?.article;
  if (read === undefined) return;
  const bytes = name.startsWith('JSON.parse') ? ARTICLE_JSON : ARTICLE;
  const { title, price, currency } = read(bytes);
  if (JSON.stringify({ title, price, currency }) !== EXPECTED)
    throw new Error(`${name} reads something else`);
  const repeat = (times: number): void => {
    for (let index = 0; index < times; index++) read(bytes);
  };
  repeat(ARTICLES / 2);
  console.log(cpuTime(() => repeat(ARTICLES)) / ARTICLES);
}
