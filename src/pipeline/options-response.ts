import type { FieldLine } from '../http/fields.ts';
import type { Response } from '../http/message.ts';
import { type Method, methods } from '../http/method.ts';
import type { CallContext } from './call.ts';
import { allow, type DocumentFormat, mayUse, type Representation, type Resource } from './resource.ts';
import { leadingFields, noSniff } from './response.ts';
import type { Match, Route } from './router.ts';

/** The description of a resource. */
export interface Description {
  readonly href: string;
  /** The methods that this principal may use. */
  readonly methods: readonly string[];
  /** The media types that it accepts and produces. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** The resource's own `description`. */
  readonly more: Readonly<Record<string, string | readonly string[]>>;
}

/** Serializes a description in the media type that `accept` prefers, by default in `format` or the format of the service. */
export type Describe = (
  description: Description,
  accept: string | undefined,
  format: DocumentFormat | undefined,
) => Representation;

/** Returns the response to OPTIONS: `Allow` for this principal, and a small description (RFC 9110 §9.3.7). */
export function describe(call: CallContext, subject: Match | readonly Route[], write: Describe): Response {
  const description = 'resource' in subject ? ofResource(call, subject) : ofServer(call, subject);
  const format = 'resource' in subject ? subject.resource.defaultFormat : undefined;
  const representation = write(description, call.request.fields.get('accept'), format);
  const fields: FieldLine[] = [
    ...leadingFields(call.date, call.principal),
    ['Content-Type', representation.type],
    noSniff,
    ['Allow', description.methods.join(', ')],
  ];
  const posted = 'resource' in subject ? readsOf(subject.resource, ['POST']) : [];
  if (posted.length > 0) fields.push(['Accept-Post', posted.join(', ')]);
  return { status: 200, fields, content: representation.content };
}

function ofResource(call: CallContext, { resource, parameters }: Match): Description {
  return {
    href: call.path,
    methods: allow(resource, call.principal, parameters),
    reads: readsOf(resource, ['PUT', 'POST']),
    writes: (resource.produces ?? []).map(({ type }) => type),
    more: resource.description ?? {},
  };
}

/** The server as a whole allows what any of its resources allows. */
function ofServer(call: CallContext, routes: readonly Route[]): Description {
  const somewhere = (method: Method): boolean =>
    routes
      .filter(({ open }) => open?.() !== false)
      .some(
        ({ resource }) => resource.ownCredentials !== true && mayUse(resource, method, call.principal, {}),
      );
  return { href: '*', methods: methods.filter(somewhere), reads: [], writes: [], more: {} };
}

function readsOf(resource: Resource, of: readonly ('PUT' | 'POST')[]): string[] {
  return [...new Set(of.flatMap((method) => resource[method]?.reads ?? []).map(({ type }) => type))];
}
