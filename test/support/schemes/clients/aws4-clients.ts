// Clients of AWS Signature Version 4 that others wrote, unmodified, from test/node_modules.
import { createHash, createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { accessKeyId, secret } from './aws4.ts';

const tests = join(import.meta.dirname, '../../..');
const require = createRequire(join(tests, 'package.json'));

/** Returns why packages cannot be used; undefined if they are installed. */
export function absent(...names: readonly string[]): string | undefined {
  const missing = names.filter((name) => !existsSync(join(tests, 'node_modules', name)));
  return missing.length === 0 ? undefined : `${missing.join(' and ')} not installed: npm ci --prefix test`;
}

/** A request to sign, and a signed one. */
export interface ClientRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** The options of a client. */
interface ClientOptions {
  readonly service: string;
  readonly region: string;
  readonly time?: number;
  readonly sessionToken?: string;
  /** Default: the secret of the test user. */
  readonly secretAccessKey?: string;
}

interface Aws4Module {
  sign(request: object, credentials: object): { path: string; headers: Record<string, string | number> };
}

/** Signs with `aws4`. `headers` must contain `Host`. */
export function signWithAws4(
  { method, path, headers, body }: ClientRequest,
  { service, region, sessionToken, time, secretAccessKey = secret }: ClientOptions,
  signQuery = false,
): ClientRequest {
  const { sign }: Aws4Module = require('aws4');
  const date = time === undefined ? {} : { 'X-Amz-Date': formatStamp(time) };
  const request = { method, path, headers: { ...headers, ...date }, body, service, region, signQuery };
  const signed = sign(request, { accessKeyId, secretAccessKey, sessionToken });
  const fields = Object.entries(signed.headers).map(([name, value]) => [name, String(value)]);
  return { method, path: signed.path, headers: Object.fromEntries(fields), body };
}

function formatStamp(time: number): string {
  return new Date(time).toISOString().replace(/\.\d{3}|[:-]/g, '');
}

/** What `@smithy/signature-v4` needs of a hash. */
class Sha256 {
  readonly #hash;

  constructor(key?: string | Uint8Array) {
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', key);
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

/** A request as `@smithy/signature-v4` takes it, with the query decoded. */
interface SmithyRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | string[]>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

interface SmithySigner {
  sign(request: object, options: object): Promise<Required<SmithyRequest>>;
  presign(request: object, options: object): Promise<Required<SmithyRequest>>;
}

/** Creates a signer of `@smithy/signature-v4`. */
export function smithySigner({ service, region, sessionToken }: ClientOptions): SmithySigner {
  const { SignatureV4 }: { SignatureV4: new (options: object) => SmithySigner } =
    require('@smithy/signature-v4');
  return new SignatureV4({
    service,
    region,
    sha256: Sha256,
    credentials: { accessKeyId, secretAccessKey: secret, sessionToken },
    uriEscapePath: service !== 's3',
  });
}

/** Signs with `@smithy/signature-v4`. */
export async function signWithSmithy(
  request: SmithyRequest,
  options: ClientOptions,
  presignFor?: number,
): Promise<ClientRequest> {
  const signer = smithySigner(options);
  const signing = options.time === undefined ? {} : { signingDate: new Date(options.time) };
  const whole = { protocol: 'http:', hostname: 'localhost', query: {}, ...request };
  const signed =
    presignFor === undefined
      ? await signer.sign(whole, signing)
      : await signer.presign(whole, { ...signing, expiresIn: presignFor });
  const { method, path, query, headers, body } = signed;
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value) => `${encodeStrictly(name)}=${encodeStrictly(value)}`),
  );
  return { method, path: pairs.length === 0 ? path : `${path}?${pairs.join('&')}`, headers, body };
}

function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

interface Aws4FetchModule {
  readonly AwsClient: new (
    options: object,
  ) => { sign(url: string, init: object): Promise<globalThis.Request> };
}

/** Signs with `aws4fetch`. */
export async function signWithAws4Fetch(
  url: string,
  init: {
    readonly method: string;
    readonly body?: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
  { service, region, sessionToken }: ClientOptions,
  signQuery = false,
): Promise<globalThis.Request> {
  const { AwsClient }: Aws4FetchModule = require('aws4fetch');
  const client = new AwsClient({ accessKeyId, secretAccessKey: secret, sessionToken, service, region });
  return client.sign(url, { ...init, aws: { signQuery } });
}
