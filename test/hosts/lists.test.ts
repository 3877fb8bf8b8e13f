import assert from 'node:assert/strict';
import { test } from 'node:test';
import { long } from '../support/store/thoroughness.ts';
import { formatArticle, type Host, noCluster, send, signed, startCluster, withPostgres } from './cluster.ts';

const writers = long ? 64 : 24;
const eachCreates = long ? 20 : 8;

const cluster = withPostgres.skip === false ? await startCluster() : noCluster;

test(
  `a list that is read while ${writers} clients create at three hosts skips nothing`,
  withPostgres,
  async () => {
    const hosts = cluster.running();
    const existing = await readItems(hosts[0], '/articles');
    const created: string[] = [];
    let creating = true;
    const work = async (number: number): Promise<void> => {
      for (let round = 0; round < eachCreates; round += 1) {
        const host = hosts[(number + round) % hosts.length];
        assert.ok(host !== undefined);
        const answer = await send(
          host,
          signed('POST', '/articles', { content: formatArticle(`w${number}`) }),
        );
        // On a busy machine the database may not answer in time: then the item may exist or not.
        assert.ok(answer.status === 201 || answer.status === 503, answer.text);
        if (answer.status === 201) created.push(answer.field('Location'));
      }
    };
    const working = Promise.all(Array.from({ length: writers }, (_, number) => work(number))).finally(() => {
      creating = false;
    });
    const readers = hosts.map((host) => follow(host, () => creating));
    await working;
    const [first, ...others] = await Promise.all(readers);
    assert.ok(first !== undefined && created.length > (writers * eachCreates) / 2);
    const listed = new Set(first);
    assert.equal(listed.size, first.length, 'an item was listed twice');
    assert.deepEqual(
      [...existing.hrefs, ...created].filter((href) => !listed.has(href)),
      [],
    );
    for (const other of others) assert.deepEqual(other.toSorted(), first.toSorted());
  },
);

interface ListedPage {
  readonly hrefs: readonly string[];
  readonly next: string | undefined;
}

/** Reads the list page by page. At its end, asks for what follows the last item until nothing more is created. */
async function follow(host: Host, creating: () => boolean): Promise<string[]> {
  const read: string[] = [];
  let last = '/articles?limit=7';
  for (;;) {
    const wasCreating = creating();
    const { hrefs, next } = await readItems(host, last);
    const fresh = hrefs.filter((href) => !read.includes(href));
    read.push(...fresh);
    if (next !== undefined) last = next;
    else if (!wasCreating) return read;
  }
}

async function readItems(host: Host | undefined, path: string): Promise<ListedPage> {
  assert.ok(host !== undefined);
  const { status, text, field } = await host.ask('GET', path, { fields: [['Accept', 'application/json']] });
  if (status === 503) return readItems(host, path);
  assert.equal(status, 200, text);
  const { articles }: { articles: { href: string }[] } = JSON.parse(text);
  const next = /<([^>]+)>; rel="?next"?/.exec(field('Link'))?.[1];
  return { hrefs: articles.map(({ href }) => href), next };
}
