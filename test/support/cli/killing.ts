import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signRequest } from '../../../src/client/index.ts';
import { open, type Wire, type WireReply } from '../net/wire.ts';
import type { Seeded } from '../seeded.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { compiled, type Server, startCompiled } from './compiled.ts';
import { Ledger, type Sent } from './ledger.ts';

/** What a server is doing when it is killed. */
const moments = ['start', 'load', 'compaction', 'stop'] as const;
type Moment = (typeof moments)[number];

/** How it went. */
interface Tally {
  /** How often it was killed in each moment. */
  readonly kills: Record<Moment, number>;
  acknowledged: number;
  /** Changes without an answer that were there afterwards, and those that were not. */
  unanswered: { made: number; lost: number };
  replayed: number;
  compactions: number;
  tornEnds: number;
}

const writers = 16;
/** About how many changes of the files in its directory a start makes. */
const changesOfStart = 6;
const secret = 'hidden-from-all';
/** The ids that clients choose. */
const chosen = Array.from({ length: 24 }, (_, number) => `chosen-${number}`);
/** Fewer items than a page has. */
const mostItems = 300;

/** A request that was sent, to send it again. */
interface Request {
  readonly method: string;
  readonly path: string;
  readonly bytes: Buffer;
  /** The change that it asks for. */
  readonly sent?: Sent;
  readonly id?: string;
}

/** Starts, loads and kills a server in one directory, so many times, and judges what is there after each. */
export async function killAgainAndAgain(rounds: number, random: Seeded): Promise<Tally> {
  const program = await compiled('compacting-server.ts');
  const directory = temporaryDirectory();
  const trial = new Trial(program, directory, random);
  try {
    for (let round = 0; round < rounds; round += 1) await trial.round();
    return await trial.end();
  } finally {
    trial.killLast();
  }
}

class Trial {
  readonly #program: string;
  readonly #directory: string;
  readonly #data: string;
  readonly #random: Seeded;
  readonly #ledger = new Ledger();
  readonly #tally: Tally = {
    kills: { start: 0, load: 0, compaction: 0, stop: 0 },
    acknowledged: 0,
    unanswered: { made: 0, lost: 0 },
    replayed: 0,
    compactions: 0,
    tornEnds: 0,
  };
  #marks = 0;
  /** Requests that were accepted: each is refused when it comes again. */
  #accepted: Request[] = [];
  #unanswered: Request[] = [];
  #server: Server | undefined;
  /** Called after each answer. */
  #onAnswer = (): void => undefined;

  constructor(program: string, directory: string, random: Seeded) {
    this.#program = program;
    this.#directory = directory;
    this.#data = join(directory, 'data');
    mkdirSync(this.#data, { mode: 0o700 });
    this.#random = random;
    const configuration = { users: { ann: { secret } } };
    writeFileSync(join(directory, 'config.json'), JSON.stringify(configuration), { mode: 0o600 });
  }

  /** One life of the server, or a few that do not come to be. */
  async round(): Promise<void> {
    const moment = this.#random.pick(moments);
    if (moment === 'start') await this.#killStarting();
    const server = await this.#startServer();
    await this.#judge(server);
    const wires = await Promise.all(Array.from({ length: writers }, () => open(server.port)));
    const done = Promise.all(wires.map((wire) => this.#write(wire)));
    done.catch(() => {}); // reported by the await below
    await this.#killIn(moment === 'start' ? 'load' : moment, server, done);
    await done;
  }

  /** Judges the last time, stops in order, and tells how it went. */
  async end(): Promise<Tally> {
    const server = await this.#startServer();
    await this.#judge(server);
    server.child.kill('SIGTERM');
    assert.equal(await server.ended, 0);
    this.#tally.compactions = Number(
      /journal-([0-9]+)/.exec(
        readdirSync(this.#data).findLast((name) => name.startsWith('journal-')) ?? '',
      )?.[1],
    );
    this.#tally.tornEnds = readdirSync(this.#data).filter((name) => name.startsWith('torn-')).length;
    return this.#tally;
  }

  /** Ends a server that still runs, because something went wrong. */
  killLast(): void {
    this.#server?.child.kill('SIGKILL');
  }

  /** Starts a server, and kills it after some changes of its directory; when it is ready at the latest. */
  async #killStarting(): Promise<void> {
    const changes = this.#changes(1 + this.#random.below(changesOfStart));
    const server = this.#spawn();
    await Promise.race([changes, server.ready]);
    server.child.kill('SIGKILL');
    await server.ended;
    this.#tally.kills.start += 1;
  }

  async #startServer(): Promise<Server> {
    const server = this.#spawn();
    await server.ready;
    return server;
  }

  #spawn(): Server {
    const options = ['--data', this.#data, '--config', join(this.#directory, 'config.json')];
    const always = ['--port', '0', '--no-tls', '--log', 'off', '--max-auth-failures', '0'];
    this.#server = startCompiled(this.#program, ...options, ...always);
    return this.#server;
  }

  /** Compares what is there with what may be, and sends again what was accepted. */
  async #judge(server: Server): Promise<void> {
    assert.doesNotMatch(server.told(), /lost/);
    const wire = await open(server.port);
    const touched = this.#ledger.touched;
    const contents = await listAll(wire);
    this.#ledger.settle(contents);
    for (const id of touched) await this.#look(wire, id, contents.get(id));
    await this.#sendAgain(wire, contents);
    await wire.close();
  }

  /** Looks at an item that was not changed since: the content is whole, and the entity tag is the one it had. */
  async #look(wire: Wire, id: string, mark: string | undefined): Promise<void> {
    await wire.send(`GET /articles/${id} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const reply = await wire.reply();
    assert.equal(reply.status, mark === undefined ? 404 : 200, id);
    if (mark === undefined) return;
    assert.equal(reply.text, formatArticle(mark));
    this.#ledger.tagged(mark, reply.field('ETag') ?? '');
  }

  async #sendAgain(wire: Wire, contents: ReadonlyMap<string, string>): Promise<void> {
    const recent = this.#accepted.splice(-2 * writers);
    const sample = Array.from({ length: Math.min(8, this.#accepted.length) }, () =>
      this.#random.pick(this.#accepted),
    );
    this.#accepted = [...this.#accepted.slice(-2000), ...recent];
    for (const request of [...recent, ...sample]) await this.#expectRefused(wire, request);
    const there = new Set(contents.values());
    const unanswered = this.#unanswered;
    this.#unanswered = [];
    for (const request of unanswered) {
      if (request.sent?.kind !== 'put') continue;
      const made = there.has(request.sent.mark);
      this.#tally.unanswered[made ? 'made' : 'lost'] += 1;
      if (made) await this.#expectRefused(wire, request);
      // Its nonce may have been stored before it was killed: then it is refused, and otherwise made once.
      else if (request.method === 'POST') await this.#expectMadeOrRefused(wire, request);
    }
  }

  async #expectRefused(wire: Wire, request: Request): Promise<void> {
    await wire.send(request.bytes);
    const reply = await wire.reply();
    assert.equal(reply.status, 401, `${request.method} ${request.path} was accepted twice`);
    assert.match(reply.text, /nonce-replayed/);
    this.#tally.replayed += 1;
  }

  async #expectMadeOrRefused(wire: Wire, { bytes, sent }: Request): Promise<void> {
    assert.ok(sent !== undefined);
    const again = this.#ledger.sending('put', sent.mark);
    await wire.send(bytes);
    const reply = await wire.reply();
    if (reply.status === 401) {
      assert.match(reply.text, /nonce-replayed/);
      return this.#ledger.refused(again);
    }
    assert.equal(reply.status, 201, `${reply.text} to a POST of which nothing had become`);
    this.#ledger.created(again, idIn(reply));
  }

  /** Asks for one thing after the other until the server is gone. */
  async #write(wire: Wire): Promise<void> {
    for (;;) {
      const request = this.#draw();
      await wire.send(request.bytes);
      // What was not read whole was not answered.
      const reply = await wire.next().catch(() => undefined);
      if (reply === undefined) {
        this.#unanswered.push(request);
        return wire.close();
      }
      this.#note(request, reply);
      if (reply.status !== 503) this.#accepted.push(request);
      this.#onAnswer();
    }
  }

  #draw(): Request {
    const random = this.#random;
    const { present } = this.#ledger;
    const id = present.length === 0 || random.below(3) === 0 ? random.pick(chosen) : random.pick(present);
    const lot = random.below(100);
    if (lot < 30) return this.#put(id, []);
    if (lot < 40) return this.#put(id, [['If-Match', this.#ledger.findTag(id) ?? '"none"']]);
    if (lot < 65 && present.length < mostItems) return this.#change('POST', '/articles', this.#newMark(), []);
    if (lot < 85) return this.#change('DELETE', `/articles/${id}`, '', [], id);
    return signedRequest('GET', `/articles/${id}`, undefined, [], random, { id });
  }

  #put(id: string, fields: readonly Field[]): Request {
    return this.#change('PUT', `/articles/${id}`, this.#newMark(), fields, id);
  }

  #newMark(): string {
    this.#marks += 1;
    return `m${this.#marks}-${this.#random.text('abcdefgh ', 400).trim().replaceAll(/ +/g, ' ')}`;
  }

  #change(method: string, path: string, mark: string, fields: readonly Field[], id?: string): Request {
    const sent = this.#ledger.sending(mark === '' ? 'delete' : 'put', mark, id);
    const content = mark === '' ? undefined : formatArticle(mark);
    return signedRequest(
      method,
      path,
      content,
      fields,
      this.#random,
      id === undefined ? { sent } : { sent, id },
    );
  }

  #note({ method, sent, id }: Request, reply: WireReply): void {
    const { status } = reply;
    const ledger = this.#ledger;
    if (method === 'GET') {
      if (status === 200) ledger.seen(id ?? '', markIn(reply.text), reply.field('ETag') ?? '');
      else assert.ok(status === 404 || status === 503, `${status} to GET: ${reply.text}`);
      return;
    }
    assert.ok(sent !== undefined);
    if (status >= 300) {
      assert.ok([404, 412, 503].includes(status), `${status} to ${method}: ${reply.text}`);
      ledger.refused(sent, id);
      return;
    }
    this.#tally.acknowledged += 1;
    if (id !== undefined) ledger.made(sent);
    else {
      ledger.created(sent, idIn(reply));
      ledger.tagged(sent.mark, reply.field('ETag') ?? '');
    }
  }

  /** Kills a server under load after a number of answers that the seed decides. `done` resolves when all writers ended. */
  async #killIn(moment: Moment, server: Server, done: Promise<unknown>): Promise<void> {
    const answers = (max: number): Promise<unknown> =>
      Promise.race([this.#answers(this.#random.below(max)), done]);
    if (moment === 'load') await answers(400);
    if (moment === 'compaction') {
      await Promise.race([this.#changes(1, /^store\./), this.#answers(1000), done]);
      await answers(20);
    }
    if (moment === 'stop') {
      await answers(250);
      server.child.kill('SIGTERM');
      await answers(2 * writers);
    }
    this.#tally.kills[moment] += server.child.kill('SIGKILL') ? 1 : 0;
    const status = await server.ended;
    if (status !== null) assert.equal(status, 0, server.told());
  }

  /** Resolves after so many more answers. */
  #answers(count: number): Promise<void> {
    return new Promise((resolve) => {
      let left = count;
      this.#onAnswer = () => {
        if (left <= 0) resolve();
        left -= 1;
      };
    });
  }

  /** Resolves after so many changes of files with such names in the directory of the data. */
  #changes(count: number, names = /./): Promise<void> {
    return new Promise((resolve) => {
      let left = count;
      const watcher = watch(this.#data, { persistent: false }, (_, name) => {
        if (name === null || !names.test(name)) return;
        left -= 1;
        if (left > 0) return;
        watcher.close();
        resolve();
      });
    });
  }
}

type Field = readonly [name: string, value: string];

function signedRequest(
  method: string,
  path: string,
  content: string | undefined,
  fields: readonly Field[],
  random: Seeded,
  more: Pick<Request, 'sent' | 'id'>,
): Request {
  const given = { method, url: `http://x${path}`, user: 'ann', secret };
  const bytes = (size: number): Uint8Array => Uint8Array.from({ length: size }, () => random.below(256));
  const signature = signRequest({
    ...given,
    random: bytes,
    ...(content === undefined ? {} : { body: content }),
  });
  const all = [['Host', 'x'], ...Object.entries(signature), ...fields];
  if (content !== undefined) {
    all.push(['Content-Type', 'application/xml'], ['Content-Length', String(Buffer.byteLength(content))]);
  }
  const head = all.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return {
    method,
    path,
    bytes: Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n${content ?? ''}`),
    ...more,
  };
}

/** Its title is the mark, and its price follows from that. */
function formatArticle(mark: string): string {
  return `<article><title>${mark}</title><price currency="EUR">${mark.length}.25</price></article>`;
}

function markIn(text: string): string {
  const mark = /<title>([^<]*)<\/title>/.exec(text)?.[1] ?? '';
  assert.equal(text, formatArticle(mark), 'an article is not whole');
  return mark;
}

function idIn(reply: WireReply): string {
  return /^\/articles\/(.+)$/.exec(reply.field('Location') ?? '')?.[1] ?? '';
}

/** The marks of all articles by their ids. */
async function listAll(wire: Wire): Promise<Map<string, string>> {
  await wire.send('GET /articles?limit=500 HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\n\r\n');
  const { text, status } = await wire.reply();
  assert.equal(status, 200);
  const { articles }: { articles: { href: string; title: string; price: { value: string } }[] } =
    JSON.parse(text);
  assert.ok(articles.length < 500);
  for (const { title, price } of articles) assert.equal(price.value, `${title.length}.25`);
  return new Map(articles.map(({ href, title }) => [href.slice('/articles/'.length), title]));
}
