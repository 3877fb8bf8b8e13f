import { didYouMean } from '../did-you-mean.ts';
import { type HttpMethod, methods } from '../http/method.ts';
import { fillTemplate } from '../http/path.ts';
import { parseTarget } from '../http/target.ts';
import { ownerParameter } from '../pipeline/access-rule.ts';
import type { Resource } from '../pipeline/resource.ts';
import type { Route } from '../pipeline/router.ts';
import { checkMembers } from '../service/argument-checks.ts';
import type { Addresses } from '../service/fetch/fetch-request.ts';
import type { MemorySnapshot } from '../store/memory.ts';
import { createDoubleApi, type DoubleApi } from './api.ts';
import type { ComposedDouble } from './compose.ts';
import { DoubleError } from './error.ts';

/** Selects the principals and paths to try. */
export interface AccessMatrixOptions {
  /** The names of users whose requests are tried. `nobody` sends no credentials. */
  readonly users: readonly string[];
  /**
   * Paths, or templates that are served. Default: all templates that are served. A parameter of a template that names an
   * owner is replaced by each user, one that names an item by the id of an existing item, any other by `1`.
   */
  readonly paths?: readonly string[] | undefined;
}

/** The names of the options. The type checks that the list is complete. */
const optionNames: Readonly<Record<keyof AccessMatrixOptions, true>> = { users: true, paths: true };

/** The permissions of one principal on one path. */
export interface AccessMatrixRow {
  /** The path that was requested. */
  readonly path: string;
  /** The name of the user, or `nobody`. */
  readonly user: string;
  /** The methods in the `Allow` field of the response to OPTIONS. */
  readonly allow: readonly HttpMethod[];
  /** The status of the response to each method. */
  readonly tried: Readonly<Record<HttpMethod, number>>;
  /** The methods that were not refused. */
  readonly may: readonly HttpMethod[];
}

/** A table of what `Allow` lists and which methods were really permitted. Its string form is a text table. */
export class AccessMatrix {
  /** One row for each path and user. */
  readonly rows: readonly AccessMatrixRow[];

  /** @internal */
  constructor(rows: readonly AccessMatrixRow[]) {
    this.rows = rows;
  }

  /** The differences between the two, one sentence each. */
  get differences(): readonly string[] {
    return this.rows.flatMap(listDifferences);
  }

  /** Returns `rows` and `differences`. */
  toJSON(): object {
    return { rows: this.rows, differences: this.differences };
  }

  /** Returns one line for each path and principal. A refused method is in brackets; `!` marks a difference from `Allow`. */
  toString(): string {
    const head = ['path', 'user', ...methods];
    const lines = [
      head,
      ...this.rows.map((row) => [row.path, row.user, ...methods.map((each) => cell(row, each))]),
    ];
    const widths = head.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
    return lines
      .map((line) =>
        line
          .map((text, at) => text.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd(),
      )
      .join('\n');
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }
}

/** Returns the error for a difference between `Allow` and what is permitted. Its cause is the matrix. */
function mismatch(matrix: AccessMatrix): DoubleError {
  const message = ['Allow differs from what the server permits:', ...matrix.differences].join('\n  ');
  return new DoubleError('access-mismatch', message, { cause: matrix });
}

/**
 * Tries every method for each path and principal on a copy of the double, which has no planned faults. Rejects with
 * DoubleError (`access-mismatch`) if the results differ from `Allow`, and with RangeError on an unknown user or path.
 */
export async function accessMatrix(
  double: ComposedDouble,
  options: AccessMatrixOptions,
): Promise<AccessMatrix> {
  checkMembers(
    options,
    Object.keys(optionNames),
    'the options of accessMatrix',
    "such as { users: ['nobody'] }",
  );
  const { users: names, paths } = options;
  if (!Array.isArray(names)) throw new RangeError('users of accessMatrix must be a list of users');
  const users = names.filter((name) => name !== nobody);
  for (const user of users) double.users.credentials(user);
  const context = double.fork();
  try {
    await context.service.ready;
    const api = createDoubleApi(context, addresses);
    const items = context.items.snapshot();
    const routes =
      paths?.map((path) => findRoute(path, context)) ??
      selectDistinct(context.service.router.routes.filter(isEnabled));
    const trials = new Trials(context, api, items);
    const rows: AccessMatrixRow[] = [];
    for (const { template, resource } of routes)
      for (const path of listPaths(template, resource, users, items))
        for (const name of names) rows.push(await trials.row(path, resource, name, names));
    const matrix = new AccessMatrix(rows);
    if (matrix.differences.length > 0) throw mismatch(matrix);
    return matrix;
  } finally {
    await context.service.close({ grace: 0 });
  }
}

/** The origins in the requests of the trials. The copy does not listen. */
const addresses: Addresses = { url: 'http://127.0.0.1', secureUrl: 'https://127.0.0.1' };

const nobody = 'nobody';

/** The statuses of a refusal, or of a method that the resource does not implement. */
const refusals: ReadonlySet<number> = new Set([401, 403, 405, 501]);

/** The step in which a resource acts. */
const acting = 16;

class Trials {
  readonly #context: ComposedDouble;
  readonly #api: Pick<DoubleApi, 'fetch' | 'as'>;
  readonly #items: MemorySnapshot;

  constructor(context: ComposedDouble, api: Pick<DoubleApi, 'fetch' | 'as'>, items: MemorySnapshot) {
    this.#context = context;
    this.#api = api;
    this.#items = items;
  }

  async row(
    path: string,
    resource: Resource,
    user: string,
    all: readonly string[],
  ): Promise<AccessMatrixRow> {
    const options = await this.#send(user, 'OPTIONS', path);
    if (options.status === 404) throw new RangeError(`there is no resource at ${path}`);
    const allowed = (options.headers.get('allow') ?? '').split(/ *, */);
    const content = await this.#readContent(path, all);
    const tried: Record<HttpMethod, number> = { HEAD: 0, GET: 0, PUT: 0, POST: 0, DELETE: 0, OPTIONS: 0 };
    const may: HttpMethod[] = [];
    for (const method of methods) {
      const { status } = await this.#send(user, method, path, content);
      tried[method] = status;
      if (!this.#isRefused(status, resource)) may.push(method);
      this.#context.items.restore(this.#items);
    }
    return { path, user, allow: methods.filter((method) => allowed.includes(method)), tried, may };
  }

  /** A resource that verifies its own credentials refuses them while acting, after access was granted. */
  #isRefused(status: number, { ownCredentials }: Resource): boolean {
    const step = this.#context.journal.journal.last().step;
    return refusals.has(status) && !(ownCredentials === true && step === acting);
  }

  /** Returns content to send: the item itself, or one of the collection. `{}` if no principal can read one. */
  async #readContent(path: string, all: readonly string[]): Promise<string> {
    const id = firstId(path, this.#items);
    const item = id === undefined ? path : `${path}/${encodeURIComponent(id)}`;
    for (const user of all) {
      const response = await this.#send(user, 'GET', item);
      if (response.status === 200 && response.headers.get('content-type') === 'application/json')
        return response.text();
    }
    return '{}';
  }

  /** Sends a request as over TLS, since some resources require it. */
  #send(user: string, method: string, path: string, content?: string): Promise<Response> {
    const sends = method === 'PUT' || method === 'POST';
    const headers = {
      Accept: 'application/json, */*;q=0.5',
      ...(sends && { 'Content-Type': 'application/json' }),
    };
    const common = { method, headers, secure: true, redirect: 'manual' } as const;
    const init = { ...common, ...(sends && content !== undefined && { body: content }) };
    return user === nobody ? this.#api.fetch(path, init) : this.#api.as(user).fetch(path, init);
  }
}

/** Returns one route for each template, since a stub can have that of a collection. */
function selectDistinct(routes: readonly Route[]): readonly Route[] {
  return [...new Map(routes.map((route) => [route.template, route])).values()];
}

function isEnabled({ open }: Route): boolean {
  return open?.() !== false;
}

/** Returns the route of a template or of a path without parameters. Throws RangeError if there is none. */
function findRoute(
  path: string,
  { service: { router } }: ComposedDouble,
): Pick<Route, 'template' | 'resource'> {
  const named = router.routes.find(({ template }) => template === path);
  const route = named ?? router.find(parseTarget(path, 'GET').segments);
  if (route === undefined) {
    const templates = router.routes.map(({ template }) => template);
    throw new RangeError(`there is no resource at ${path}${didYouMean(path, templates)}`);
  }
  return { template: path, resource: route.resource };
}

/** Returns the paths to try for a template. */
function listPaths(
  template: string,
  resource: Resource,
  users: readonly string[],
  items: MemorySnapshot,
): readonly string[] {
  if (!template.includes('{')) return [template];
  const owner = findOwner(resource);
  const owners = owner === undefined || users.length === 0 ? ['1'] : users;
  return [...new Set(owners.map((name) => pathFor(template, owner, name, items)))];
}

/** Replaces parameters from left to right, since the path before a parameter determines which items exist. */
function pathFor(template: string, owner: string | undefined, name: string, items: MemorySnapshot): string {
  return template.replace(/\/\{([^}]*)\}/g, (_, parameter: string, at: number, whole: string) => {
    const before = fillTemplate(whole.slice(0, at), owner === undefined ? {} : { [owner]: name });
    const value = parameter === owner ? name : (firstId(before, items) ?? '1');
    return `/${fillTemplate('{value}', { value })}`;
  });
}

function firstId(path: string, { collections }: MemorySnapshot): string | undefined {
  return collections.find((each) => each.path === path)?.entries[0]?.id;
}

/** Returns the parameter that names an owner, if there is one. */
function findOwner({ GET, PUT, POST, DELETE, headAccess }: Resource): string | undefined {
  const accesses = [GET, PUT, POST, DELETE].map((each) => each?.access);
  return [...accesses, headAccess]
    .flatMap((access) => access ?? [])
    .map(ownerParameter)
    .find((parameter) => parameter !== undefined);
}

function cell({ allow, tried, may }: AccessMatrixRow, method: HttpMethod): string {
  const status = may.includes(method) ? String(tried[method]) : `(${tried[method]})`;
  return allow.includes(method) === may.includes(method) ? status : `${status}!`;
}

function listDifferences({ path, user, allow, tried, may }: AccessMatrixRow): string[] {
  return methods
    .filter((method) => allow.includes(method) !== may.includes(method))
    .map((method) => {
      const listed = allow.includes(method) ? 'lists it' : 'does not list it';
      return `${method} ${path} as ${user}: Allow ${listed}, and the response was ${tried[method]}`;
    });
}
