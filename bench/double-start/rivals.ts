/** Alternatives to a server in tests, each in its own process, which runs it with `node -e`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A contestant. */
export interface Rival {
  readonly name: string;
  readonly ours: boolean;
  /** The package that must be installed. */
  readonly needs?: string;
  /** The expression that loads it. */
  readonly load: string;
  /** The source of a function that takes the loaded module and returns `{ url, stop }` of a running server. */
  readonly start: string;
}

const bare: Rival = {
  name: 'bare node:http',
  ours: false,
  load: "require('node:http')",
  start: `async (http) => {
    const server = http.createServer((request, response) => response.end('hello'));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { url: 'http://127.0.0.1:' + server.address().port, stop: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }) };
  }`,
};

const peers: readonly Rival[] = [
  {
    name: 'json-server',
    ours: false,
    needs: 'json-server',
    load: "require('json-server')",
    start: `async (library) => {
      const app = library.create();
      app.use(library.router({ articles: [{ id: 1, title: 'Tea' }] }));
      const server = await new Promise((resolve) => { const made = app.listen(0, '127.0.0.1', () => resolve(made)); });
      return { url: 'http://127.0.0.1:' + server.address().port + '/articles/1', stop: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }) };
    }`,
  },
  {
    name: 'mockttp',
    ours: false,
    needs: 'mockttp',
    load: "require('mockttp')",
    start: `async ({ getLocal }) => {
      const server = getLocal();
      await server.start();
      await server.forGet('/articles/1').thenReply(200, 'hello');
      return { url: server.url + '/articles/1', stop: () => server.stop() };
    }`,
  },
  {
    name: 'oauth2-mock-server',
    ours: false,
    needs: 'oauth2-mock-server',
    load: "import('oauth2-mock-server')",
    start: `async ({ OAuth2Server }) => {
      const server = new OAuth2Server();
      await server.issuer.keys.generate('RS256');
      await server.start(0, '127.0.0.1');
      return { url: 'http://127.0.0.1:' + server.address().port + '/.well-known/openid-configuration', stop: () => server.stop() };
    }`,
  },
  {
    name: 'msw (no socket)',
    ours: false,
    needs: 'msw',
    load: "({ ...require('msw'), ...require('msw/node') })",
    start: `async ({ http, HttpResponse, setupServer }) => {
      const url = 'http://service.example/articles/1';
      const server = setupServer(http.get(url, () => HttpResponse.text('hello')));
      server.listen();
      return { url, stop: async () => server.close() };
    }`,
  },
];

/** A tree with a built package, and the name of the contestant. */
interface Built {
  readonly dist: string;
  /** The suffix of the name, if there are several trees. */
  readonly where?: string;
}

/** All contestants; the bare server is the first. */
export function rivalsOf(built: readonly Built[]): readonly Rival[] {
  return [bare, ...built.flatMap(doublesOf), ...peers];
}

function doublesOf({ dist, where }: Built): readonly Rival[] {
  const load = `require(${JSON.stringify(join(dist, 'cjs/double/index.js'))})`;
  const double = (name: string, https: boolean, given: string): Rival => ({
    name: `${ours}, ${name}${where === undefined ? '' : `, ${where}`}`,
    ours: true,
    load,
    start: `async ({ startDouble }) => {
      const double = await startDouble({ users: ['ann'], https: ${https} });
      return { ${given}, stop: () => double.close() };
    }`,
  });
  return [
    double('HTTP alone', false, "url: double.url + '/articles'"),
    double('HTTPS too', true, "url: double.url + '/articles'"),
    double('asked over HTTPS', true, "url: double.secureUrl + '/articles', ca: double.ca"),
  ];
}

/** The prefix of the names of this project's contestants. */
export const ours = 'countersign/double';

/** Returns why the contestant cannot be measured; undefined if it can. */
export function absence(root: string, { needs }: Rival): string | undefined {
  const present = needs === undefined || existsSync(join(root, 'bench/node_modules', needs));
  return present ? undefined : 'not installed';
}

const cost = `const spent = () => { const { user, system } = process.cpuUsage(); return (user + system) * 1000; };
const report = (sample) => { console.log(JSON.stringify(sample)); process.exit(); };
const ask = ({ url, ca }) => new Promise((resolve, reject) => {
  const { get } = require(ca === undefined ? 'node:http' : 'node:https');
  get(url, { ca }, (reply) => reply.resume().on('end', resolve)).on('error', reject);
});`;

/** Loads the contestant. Prints the CPU time (ns) of the process, and the part of it for loading. */
export function loading({ load }: Pick<Rival, 'load'>): string {
  return `${cost} (async () => { const before = spent(); await ${load}; const cpu = spent(); report({ cpu, first: cpu - before }); })();`;
}

/**
 * Loads, starts and calls the contestant once. Prints the CPU time (ns) of the process until the response is complete.
 */
export function answering({ load, start }: Rival): string {
  return `${cost} (async () => { await ask(await (${start})(await ${load})); report({ cpu: spent() }); })();`;
}

/**
 * Starts and stops the contestant repeatedly in a process that has loaded it. Prints the CPU time (ns) of the first
 * start, and the median of the later ones. With HTTPS, a start ends with the first response.
 */
export function starting({ load, start }: Rival, times = 9): string {
  return `${cost} (async () => {
    const library = await ${load};
    const one = async () => {
      const before = spent();
      const server = await (${start})(library);
      if (server.ca !== undefined) await ask(server);
      const cpu = spent() - before;
      await server.stop();
      return cpu;
    };
    const first = await one();
    const later = [];
    for (let count = 0; count < ${times}; count += 1) later.push(await one());
    report({ cpu: later.sort((one, other) => one - other)[later.length >> 1], first });
  })();`;
}
