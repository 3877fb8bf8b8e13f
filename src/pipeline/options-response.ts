import type { FieldLine } from '../http/fields.ts';
import type { Response } from '../http/message.ts';
import type { CallContext } from './call.ts';
import {
  type DocumentFormat,
  documentFormat,
  listPossibleMethods,
  mayUse,
  type Representation,
  type Resource,
  sortMethods,
} from './resource.ts';
import { formatLeadingFields, noSniff } from './response.ts';
import { allowAt, type Match, type Route } from './router.ts';

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
  const description = 'resource' in subject ? describeResource(call, subject) : describeServer(call, subject);
  const format = 'resource' in subject ? documentFormat(subject.resource) : undefined;
  const representation = write(description, call.incoming.headers.get('accept'), format);
  const fields: FieldLine[] = [
    ...formatLeadingFields(call.date, call.principal),
    ['Content-Type', representation.type],
    noSniff,
    ['Allow', description.methods.join(', ')],
  ];
  if ('resource' in subject) fields.push(...formatAcceptedTypes(subject));
  return { status: 200, headers: fields, body: representation.body };
}

/** Returns Accept-Post, and Accept-Patch (RFC 5789 §3.1), which lists media types and no ranges. */
function formatAcceptedTypes(match: Match): FieldLine[] {
  const resources = (match.peers ?? [match]).map(({ resource }) => resource);
  const posted = resources.flatMap((resource) => listMediaTypes(resource, ['POST']));
  const patched = resources
    .flatMap((resource) => listMediaTypes(resource, ['PATCH']))
    .filter((type) => type !== '*/*');
  const fields: FieldLine[] = [];
  if (posted.length > 0) fields.push(['Accept-Post', posted.join(', ')]);
  if (patched.length > 0) fields.push(['Accept-Patch', patched.join(', ')]);
  return fields;
}

function describeResource(call: CallContext, match: Match): Description {
  const { resource } = match;
  return {
    href: call.path,
    methods: allowAt(match, call.principal),
    reads: listMediaTypes(resource, ['PUT', 'POST', 'PATCH']),
    writes: (resource.produces ?? []).map(({ type }) => type),
    more: resource.description ?? {},
  };
}

/** The server as a whole allows what any of its resources allows. */
function describeServer(call: CallContext, routes: readonly Route[]): Description {
  const found = new Set<string>();
  for (const { resource, open } of routes) {
    if (open?.() === false || resource.ownCredentials === true) continue;
    for (const method of listPossibleMethods(resource))
      if (mayUse(resource, method, call.principal, {})) found.add(method);
  }
  return { href: '*', methods: sortMethods([...found]), reads: [], writes: [], more: {} };
}

function listMediaTypes(resource: Resource, of: readonly ('PUT' | 'POST' | 'PATCH')[]): string[] {
  return [...new Set(of.flatMap((method) => resource[method]?.reads ?? []).map(({ type }) => type))];
}
