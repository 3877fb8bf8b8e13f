import { signRequest } from '../../../src/client/sign.ts';
import { createManualClock, type ManualClock } from '../../../src/clock.ts';
import { createRequest } from '../../../src/http/message.ts';
import type { ServiceOptions } from '../../../src/index.ts';
import { type ControllableService, createControllableService } from '../../../src/service/service.ts';
import { seeded } from '../seeded.ts';
import { keepSaid, keepSecret } from '../transcript.ts';

/** The service's time at the start of every test. */
export const start = Date.UTC(2024, 1, 29, 12, 0, 0);

/** A reply as tests look at it. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly bytes: Buffer;
  readonly headOnly: boolean;
  readonly close: boolean;
  /** The field's value, several lines joined by a comma; '' when it is absent. */
  field(name: string): string;
  /** The value of the member in a problem or other JSON document, or the content of that element in XML. */
  member(name: string): string;
}

/** What is to be different from a bare request by nobody. */
export interface Asking {
  user?: string;
  fields?: Record<string, string>;
  content?: string | Uint8Array;
  type?: string;
}

/** A service without a socket, its clock, and a way to ask it. */
export interface OpenedService {
  readonly service: ControllableService;
  readonly clock: ManualClock;
  ask(method: string, target: string, asking?: Asking): Promise<Answer>;
}

/** Opens a service with the users ann and bob (secrets `ann-secret`, `bob-secret`) on a clock that stands. */
export function openService(options: ServiceOptions = {}): OpenedService {
  const clock = createManualClock(start);
  const random = seeded(1);
  const service = createControllableService({
    clock,
    random: (size) => Uint8Array.from({ length: size }, () => random.below(256)),
    users: { ann: { secret: 'ann-secret' }, bob: { secret: 'bob-secret' } },
    maxAuthFailures: 0,
    ...options,
  });
  return {
    service,
    clock,
    ask: (method, target, asking = {}) => ask(service, clock, method, target, asking),
  };
}

async function ask(
  service: ControllableService,
  clock: ManualClock,
  method: string,
  target: string,
  { user, fields = {}, content, type }: Asking,
): Promise<Answer> {
  const lines = Object.entries(fields);
  if (content !== undefined) lines.push(['Content-Type', type ?? 'application/xml']);
  if (user !== undefined) {
    const url = `http://localhost${target}`;
    const secret = `${user}-secret`;
    const signature = signRequest({ method, url, user, secret, clock });
    lines.push(...Object.entries(signature));
    keepSecret(secret);
    keepSecret(signature['Authentication']?.split(':').at(-1) ?? '');
  }
  const parts = { method, target, headers: lines };
  const reply = await service.respond(
    createRequest(content === undefined ? parts : { ...parts, body: content }),
  );
  const bytes = Buffer.from(reply.body ?? '');
  const text = bytes.toString();
  keepSaid(`${reply.headers.map((line) => line.join(': ')).join('\n')}\n${text}`);
  const values = (name: string): string[] =>
    reply.headers.filter(([known]) => known.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
  return {
    status: reply.status,
    text,
    bytes,
    headOnly: reply.headOnly === true,
    close: reply.close === true,
    field: (name) => values(name).join(', '),
    member: (name) => readMember(text, name),
  };
}

function readMember(text: string, name: string): string {
  if (text.startsWith('{')) return String(JSON.parse(text)[name] ?? '');
  return new RegExp(`<${name}(?: [^>]*)?>([^<]*)</${name}>`).exec(text)?.[1] ?? '';
}

/** An article in XML. */
export function article(title: string, price = '9.99'): string {
  return `<article><title>${title}</title><price currency="EUR">${price}</price></article>`;
}
