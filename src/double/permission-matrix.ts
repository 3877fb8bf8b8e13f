import { type Method, methods } from '../http/method.ts';
import { fillTemplate } from '../http/path.ts';
import { parseTarget } from '../http/target.ts';
import type { Resource } from '../pipeline/resource.ts';
import type { Route } from '../pipeline/router.ts';
import type { MemorySnapshot } from '../store/memory.ts';
import type { DoubleApi } from './api.ts';
import type { ComposedDouble } from './compose.ts';

/** Who tries, and what. */
export interface AllowMatrixOptions {
  /** Users by their names, and `nobody`: who sends no credentials. */
  readonly as: readonly string[];
  /**
   * Paths, or templates that are served; all that is served when left out. In a template a parameter is, where it names an
   * owner, each of the users in turn; where it names an item, one that there is; else `1`.
   */
  readonly paths?: readonly string[];
}

/** What one principal may do on one path. */
export interface AllowMatrixRow {
  readonly path: string;
  readonly as: string;
  /** What `Allow` says to OPTIONS. */
  readonly allow: readonly Method[];
  /** The status of each method's answer when it was tried. */
  readonly tried: Readonly<Record<Method, number>>;
  /** The methods that were not refused when they were tried. */
  readonly may: readonly Method[];
}

/** What `Allow` says, and what is so: a table, which a text of it shows. */
export class AllowMatrix {
  readonly rows: readonly AllowMatrixRow[];

  constructor(rows: readonly AllowMatrixRow[]) {
    this.rows = rows;
  }

  /** Where the two differ, a sentence each. */
  get differences(): readonly string[] {
    return this.rows.flatMap(differencesOf);
  }

  toJSON(): object {
    return { rows: this.rows, differences: this.differences };
  }

  /** A line for each path and principal; a refusal stands in brackets, an exclamation mark behind what differs from `Allow`. */
  toString(): string {
    const head = ['path', 'as', ...methods];
    const lines = [
      head,
      ...this.rows.map((row) => [row.path, row.as, ...methods.map((each) => cell(row, each))]),
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

/** `Allow` and what is so differ; the message lists where. */
export class AllowMatrixError extends Error {
  override readonly name = 'AllowMatrixError';
  readonly matrix: AllowMatrix;

  constructor(matrix: AllowMatrix) {
    super(['Allow says otherwise than what is answered:', ...matrix.differences].join('\n  '));
    this.matrix = matrix;
  }
}

/**
 * Tries every method for each path and principal, on a snapshot that is restored. Rejects with AllowMatrixError where what
 * was answered differs from `Allow`, with RangeError on a user or a path that there is not.
 */
export async function allowMatrix(
  context: ComposedDouble,
  face: Pick<DoubleApi, 'fetch' | 'as'>,
  { as, paths }: AllowMatrixOptions,
): Promise<AllowMatrix> {
  const users = as.filter((name) => name !== nobody);
  for (const user of users) context.users.credentials(user);
  const snapshot = context.state.snapshot();
  try {
    // What is planned to go wrong has no part in what may be done.
    context.faults.faults.clear();
    context.nonces.restore({ ...context.nonces.snapshot(), burning: 0 });
    const held = context.items.snapshot();
    const places =
      paths?.map((path) => routeOf(path, context)) ?? context.service.router.routes.filter(isOpen);
    const tries = new Tries(context, face, held);
    const rows: AllowMatrixRow[] = [];
    for (const { template, resource } of places)
      for (const path of filled(template, resource, users, held))
        for (const name of as) rows.push(await tries.row(path, resource, name, as));
    const matrix = new AllowMatrix(rows);
    if (matrix.differences.length > 0) throw new AllowMatrixError(matrix);
    return matrix;
  } finally {
    context.state.restore(snapshot);
  }
}

const nobody = 'nobody';

/** What is answered to who may not, or to what is not there for anybody. */
const refusals: ReadonlySet<number> = new Set([401, 403, 405, 501]);

/** The step in which a resource acts. */
const acting = 16;

class Tries {
  readonly #house: ComposedDouble;
  readonly #face: Pick<DoubleApi, 'fetch' | 'as'>;
  readonly #held: MemorySnapshot;

  constructor(context: ComposedDouble, face: Pick<DoubleApi, 'fetch' | 'as'>, held: MemorySnapshot) {
    this.#house = context;
    this.#face = face;
    this.#held = held;
  }

  async row(path: string, resource: Resource, as: string, all: readonly string[]): Promise<AllowMatrixRow> {
    const options = await this.#send(as, 'OPTIONS', path);
    if (options.status === 404) throw new RangeError(`there is no resource at ${path}`);
    const said = (options.headers.get('allow') ?? '').split(/ *, */);
    const content = await this.#contentOf(path, all);
    const tried: Record<Method, number> = { HEAD: 0, GET: 0, PUT: 0, POST: 0, DELETE: 0, OPTIONS: 0 };
    const may: Method[] = [];
    for (const method of methods) {
      const { status } = await this.#send(as, method, path, content);
      tried[method] = status;
      if (!this.#refused(status, resource)) may.push(method);
      this.#house.items.restore(this.#held);
    }
    return { path, as, allow: methods.filter((method) => said.includes(method)), tried, may };
  }

  /** A resource that judges credentials of its own refuses them while it acts: whoever got there was let through. */
  #refused(status: number, { ownCredentials }: Resource): boolean {
    const step = this.#house.journal.journal.last()?.step;
    return refusals.has(status) && !(ownCredentials === true && step === acting);
  }

  /** What can be sent there: the item itself, or one of its collection; an empty one where nobody can read any. */
  async #contentOf(path: string, all: readonly string[]): Promise<string> {
    const id = firstId(path, this.#held);
    const item = id === undefined ? path : `${path}/${encodeURIComponent(id)}`;
    for (const as of all) {
      const shown = await this.#send(as, 'GET', item);
      if (shown.status === 200 && shown.headers.get('content-type') === 'application/json')
        return shown.text();
    }
    return '{}';
  }

  /** As over TLS, for some resources answer there alone. */
  #send(as: string, method: string, path: string, content?: string): Promise<Response> {
    const sends = method === 'PUT' || method === 'POST';
    const headers = {
      Accept: 'application/json, */*;q=0.5',
      ...(sends && { 'Content-Type': 'application/json' }),
    };
    const common = { method, headers, secure: true, redirect: 'manual' } as const;
    const init = { ...common, ...(sends && content !== undefined && { body: content }) };
    return as === nobody ? this.#face.fetch(path, init) : this.#face.as(as).fetch(path, init);
  }
}

function isOpen({ open }: Route): boolean {
  return open?.() !== false;
}

/** The route of a template; a path of its own is one without parameters. Throws RangeError where nothing is served. */
function routeOf(
  path: string,
  { service: { router } }: ComposedDouble,
): Pick<Route, 'template' | 'resource'> {
  const named = router.routes.find(({ template }) => template === path);
  const route = named ?? router.find(parseTarget(path, 'GET').segments);
  if (route === undefined) throw new RangeError(`there is no resource at ${path}`);
  return { template: path, resource: route.resource };
}

/** The paths that a template stands for. */
function filled(
  template: string,
  resource: Resource,
  users: readonly string[],
  held: MemorySnapshot,
): readonly string[] {
  if (!template.includes('{')) return [template];
  const owner = ownerOf(resource);
  const fillings = owner === undefined || users.length === 0 ? ['1'] : users;
  return [...new Set(fillings.map((name) => filledFor(template, owner, name, held)))];
}

/** Parameters in turn, for what stands before one says which items there are. */
function filledFor(template: string, owner: string | undefined, name: string, held: MemorySnapshot): string {
  return template.replace(/\/\{([^}]*)\}/g, (_, parameter: string, at: number, whole: string) => {
    const before = fillTemplate(whole.slice(0, at), owner === undefined ? {} : { [owner]: name });
    const value = parameter === owner ? name : (firstId(before, held) ?? '1');
    return `/${fillTemplate('{value}', { value })}`;
  });
}

function firstId(path: string, { collections }: MemorySnapshot): string | undefined {
  return collections.find((each) => each.path === path)?.entries[0]?.id;
}

/** The parameter that names an owner, where one does. */
function ownerOf({ GET, PUT, POST, DELETE, headAccess }: Resource): string | undefined {
  const accesses = [GET, PUT, POST, DELETE].map((each) => each?.access);
  for (const access of [...accesses, headAccess])
    if (typeof access === 'string' && access.startsWith('owner:')) return access.slice('owner:'.length);
  return undefined;
}

function cell({ allow, tried, may }: AllowMatrixRow, method: Method): string {
  const status = may.includes(method) ? String(tried[method]) : `(${tried[method]})`;
  return allow.includes(method) === may.includes(method) ? status : `${status}!`;
}

function differencesOf({ path, as, allow, tried, may }: AllowMatrixRow): string[] {
  return methods
    .filter((method) => allow.includes(method) !== may.includes(method))
    .map((method) => {
      const says = allow.includes(method) ? 'has it' : 'has it not';
      return `${method} ${path} as ${as}: Allow ${says}, and it was answered ${tried[method]}`;
    });
}
