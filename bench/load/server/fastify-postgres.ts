/**
 * Fastify with `pg`, as an application is usually written: it verifies the full form of the signature with `createHmac`, stores
 * the nonce in a table, and reads an article or updates it with its revision.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { type Article, article } from '../../data/articles.ts';

// The packages are loaded only when they are measured. A missing package throws.
const load = createRequire(import.meta.url);

/** The options of the application, as one JSON document. */
export interface FastifyPostgresOptions {
  /** The options of `pg.Pool`. */
  readonly pool: object;
  /** The name of the schema, which is created. */
  readonly schema: string;
  readonly user: string;
  readonly secret: string;
  /** The number of initial articles. */
  readonly count: number;
  /** Whether the nonce and the article are stored in one transaction. Otherwise each statement is one. */
  readonly transaction: boolean;
}

interface Result<Row> {
  readonly rowCount: number;
  readonly rows: readonly Row[];
}
interface Queryable {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Result<Row>>;
}
interface Client extends Queryable {
  release(): void;
}
interface Pool extends Queryable {
  connect(): Promise<Client>;
}
interface Stored {
  readonly revision: string;
  readonly value: Article;
}

interface Request {
  readonly method: string;
  readonly url: string;
  readonly params: { readonly id: string };
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Article;
}
interface Reply {
  code(status: number): Reply;
  header(name: string, value: string): Reply;
  send(body?: unknown): Reply;
}
type Handler = (request: Request, reply: Reply) => Promise<Reply>;
interface Fastify {
  get(path: string, handler: Handler): void;
  put(path: string, handler: Handler): void;
  listen(address: { port: number; host: string }): Promise<string>;
  server: { address(): AddressInfo };
}

/** How long a date is valid (ms), before and after. */
const window = 600_000;

const tables = `
CREATE TABLE articles (id bigint PRIMARY KEY, revision bigint NOT NULL, value jsonb NOT NULL);
CREATE TABLE nonces (name text, nonce text, until bigint NOT NULL, PRIMARY KEY (name, nonce));
CREATE INDEX ON nonces (until);
`;

/** Creates the tables and starts the application. Returns its port. */
export async function fastifyPostgresApp(options: FastifyPostgresOptions): Promise<number> {
  const { Pool: PgPool }: { Pool: new (options: object) => Pool } = load('pg');
  const pool = new PgPool({ ...options.pool, options: `-c search_path=${options.schema}` });
  const app: Fastify = load('fastify')();
  await pool.query(`CREATE SCHEMA ${options.schema};${tables}`);
  for (let id = 1; id <= options.count; id += 1)
    await pool.query('INSERT INTO articles VALUES ($1, 1, $2)', [id, article(id)]);
  const { read, change } = handlers(pool, options);
  app.get('/articles/:id', read);
  app.put('/articles/:id', change);
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server.address().port;
}

function handlers(pool: Pool, options: FastifyPostgresOptions): { read: Handler; change: Handler } {
  const read: Handler = async (request, reply) => {
    const nonce = verifiedNonce(request, options);
    if (nonce === undefined || !(await claim(pool, options.user, nonce))) return reply.code(401).send();
    const { rows } = await pool.query<Stored>('SELECT revision, value FROM articles WHERE id = $1', [
      request.params.id,
    ]);
    return answer(reply, rows[0]);
  };
  const change: Handler = async (request, reply) => {
    const nonce = verifiedNonce(request, options);
    if (nonce === undefined) return reply.code(401).send();
    const client = options.transaction ? await pool.connect() : pool;
    try {
      if (options.transaction) await client.query('BEGIN');
      const fresh = await claim(client, options.user, nonce);
      const updated = fresh ? await update(client, request) : undefined;
      if (options.transaction) await client.query('COMMIT');
      return fresh ? answer(reply, updated) : reply.code(401).send();
    } finally {
      if ('release' in client) client.release();
    }
  };
  return { read, change };
}

/** Returns the nonce of a request with a valid signature. */
function verifiedNonce(
  { method, url, headers }: Request,
  { user, secret }: FastifyPostgresOptions,
): string | undefined {
  const { date = '', authentication = '' } = headers;
  const [, name, nonce = '', digest = ''] = /^hmac ([^:]+):([^:]+):(.+)$/.exec(authentication) ?? [];
  if (name !== user || !(Math.abs(Date.parse(date) - Date.now()) < window)) return undefined;
  const message = `${method}+${url}+${date.replaceAll(' ', '')}+${nonce}`;
  const expected = createHmac('sha256', secret).update(message).digest();
  const given = Buffer.from(digest, 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected) ? nonce : undefined;
}

async function claim(client: Queryable, user: string, nonce: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'INSERT INTO nonces (name, nonce, until) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [user, nonce, Date.now() + 2 * window],
  );
  return rowCount === 1;
}

async function update(client: Queryable, { params, body }: Request): Promise<Stored | undefined> {
  const { rows } = await client.query<Stored>(
    'UPDATE articles SET value = $2, revision = revision + 1 WHERE id = $1 RETURNING revision, value',
    [params.id, body],
  );
  return rows[0];
}

function answer(reply: Reply, stored: Stored | undefined): Reply {
  if (stored === undefined) return reply.code(404).send();
  return reply.header('ETag', `"${stored.revision}"`).send(stored.value);
}
