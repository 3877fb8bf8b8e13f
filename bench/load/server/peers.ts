/**
 * Servers of other packages with the same articles: GET /articles/1 and POST /articles. Only hawk authenticates
 * requests.
 */
import type { IncomingMessage, RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { type Article, article } from '../../data/articles.ts';

// Each package is loaded only when it is measured. A missing package throws.
const load = createRequire(import.meta.url);

/** The articles of a peer, in memory by id. */
class Shelf {
  readonly #articles = new Map<string, Article>([['1', article(1)]]);

  read(id: string): Article | undefined {
    return this.#articles.get(id);
  }

  /** Stores an article and returns its path. */
  add(given: Article): string {
    const id = String(this.#articles.size + 1);
    this.#articles.set(id, given);
    return `/articles/${id}`;
  }
}

const tag = '"1"';

interface Fastify {
  get(path: string, ...handlers: unknown[]): void;
  post(path: string, handler: unknown): void;
  addHook(name: string, hook: unknown): void;
  listen(address: { port: number; host: string }): Promise<string>;
  server: { address(): AddressInfo };
}
interface FastifyRequest {
  readonly params: { readonly id: string };
  readonly headers: IncomingMessage['headers'];
  readonly body: Article;
  readonly raw: IncomingMessage;
}
interface FastifyReply {
  code(status: number): FastifyReply;
  header(name: string, value: string): FastifyReply;
  send(body?: unknown): FastifyReply;
}

function fastify(): Fastify {
  const app: Fastify = load('fastify')();
  const shelf = new Shelf();
  app.get('/articles/:id', ({ params, headers }: FastifyRequest, reply: FastifyReply) => {
    const found = shelf.read(params.id);
    if (found === undefined) return reply.code(404).send();
    reply.header('ETag', tag);
    return headers['if-none-match'] === tag ? reply.code(304).send() : reply.send(found);
  });
  app.post('/articles', ({ body }: FastifyRequest, reply: FastifyReply) =>
    reply.code(201).header('Location', shelf.add(body)).send(body),
  );
  return app;
}

async function portOf(app: Fastify): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server.address().port;
}

/** Starts Fastify. Returns its port. */
export function fastifyApp(): Promise<number> {
  return portOf(fastify());
}

interface Hawk {
  server: {
    authenticate(
      request: IncomingMessage,
      credentials: (id: string) => object,
      options: object,
    ): Promise<unknown>;
  };
}

/**
 * Starts Fastify with @hapi/hawk, which verifies the signature of each request and stores its nonce. Returns its port.
 */
export function hawkApp(credentials: object): Promise<number> {
  const hawk: Hawk = load('@hapi/hawk');
  const seen = new Set<string>();
  const nonceFunc = (key: string, nonce: string, time: string): void => {
    const name = `${key}:${nonce}:${time}`;
    if (seen.has(name)) throw new Error('replayed');
    seen.add(name);
  };
  const app = fastify();
  app.addHook('onRequest', async ({ raw }: FastifyRequest, reply: FastifyReply) => {
    try {
      await hawk.server.authenticate(raw, () => credentials, { nonceFunc });
    } catch {
      return reply.code(401).send();
    }
    return undefined;
  });
  return portOf(app);
}

interface HonoContext {
  readonly req: {
    param(name: string): string;
    header(name: string): string | undefined;
    json(): Promise<Article>;
  };
  json(body: unknown, status?: number): unknown;
  body(content: null, status: number): unknown;
  header(name: string, value: string): void;
  notFound(): unknown;
}
interface Hono {
  get(path: string, handler: (context: HonoContext) => unknown): void;
  post(path: string, handler: (context: HonoContext) => unknown): void;
  readonly fetch: unknown;
}

/** Starts Hono with its adapter for node:http. */
export function honoListener(): RequestListener {
  const { Hono }: { Hono: new () => Hono } = load('hono');
  const { getRequestListener }: { getRequestListener(fetch: unknown): RequestListener } =
    load('@hono/node-server');
  const app = new Hono();
  const shelf = new Shelf();
  app.get('/articles/:id', (context) => {
    const found = shelf.read(context.req.param('id'));
    if (found === undefined) return context.notFound();
    context.header('ETag', tag);
    return context.req.header('if-none-match') === tag ? context.body(null, 304) : context.json(found);
  });
  app.post('/articles', async (context) => {
    const given = await context.req.json();
    context.header('Location', shelf.add(given));
    return context.json(given, 201);
  });
  return getRequestListener(app.fetch);
}
