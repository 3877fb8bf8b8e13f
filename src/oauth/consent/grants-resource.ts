import type { Authenticator } from '../../auth/authenticate.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { noOrigins } from '../../pipeline/cors-policy.ts';
import { pathForClient } from '../../pipeline/proxy.ts';
import {
  type ActionResponse,
  action,
  type Call,
  type Resource,
  type Variant,
} from '../../pipeline/resource.ts';
import { type FormContent, formReading } from '../form-body.ts';
import type { Grants } from '../grants.ts';
import { readParameters } from '../parameters.ts';
import { grantsPath } from '../paths.ts';
import type { Grant } from '../records.ts';
import { formatScope } from '../scopes.ts';
import { describeScope, showRefusal, tooManyParameters } from './consent-page.ts';
import { requireApprovingUser } from './consents.ts';
import { html, pageVariants, showPage } from './html-page.ts';
import type { PageTickets } from './page-ticket.ts';

/** Dependencies of the page of grants. */
interface GrantsResourceContext {
  readonly approver: Authenticator;
  readonly grants: Grants;
  readonly tickets: PageTickets;
}

/** Creates the page where users see the grants that they gave to clients, and revoke them. Users authenticate with Basic. */
export function grantsResource(context: GrantsResourceContext): Resource<unknown, FormContent> {
  return {
    ownCredentials: true,
    cors: noOrigins,
    produces: pageVariants,
    GET: action('anyone', (call) => show(context, call)),
    POST: action('anyone', (call) => revoke(context, call), { reads: [formReading] }),
  };
}

function requireUser({ approver }: GrantsResourceContext, request: IncomingRequest): Promise<string> {
  return requireApprovingUser(
    approver,
    request,
    'Sign in to see and revoke the permissions of applications.',
  );
}

async function show(
  context: GrantsResourceContext,
  { incoming: request, variant }: Call,
): Promise<ActionResponse> {
  const user = await requireUser(context, request);
  const grants = await context.grants.ofUser(user);
  const page = {
    user,
    grants,
    ticket: context.tickets.issue(user),
    action: pathForClient(request, grantsPath),
  };
  return showGrants(page, variant);
}

async function revoke(
  context: GrantsResourceContext,
  { incoming: request, body: content, variant }: Call<unknown, FormContent>,
): Promise<ActionResponse> {
  const user = await requireUser(context, request);
  if (content === 'too-many-parameters') return showRefusal(tooManyParameters, variant);
  if (content === undefined || content === 'malformed') return showRefusal('The form is malformed.', variant);
  const { values } = readParameters(content, ['ticket', 'grant']);
  if (!context.tickets.accepts(user, values.get('ticket') ?? ''))
    return showRefusal(
      'The form has expired or is not yours. Open the page of your permissions again.',
      variant,
    );
  const id = values.get('grant');
  const grant = (await context.grants.ofUser(user)).find((each) => each.id === id);
  // A grant that ended meanwhile, or was revoked twice, is not an error.
  if (grant !== undefined) await context.grants.revokeGrant(grant.id);
  return { status: 303, noStore: true, headers: [['Location', pathForClient(request, grantsPath)]] };
}

/** The content of the page of grants. */
interface GrantsView {
  readonly user: string;
  readonly grants: readonly Grant[];
  readonly ticket: string;
  /** The path that the forms are sent to. */
  readonly action: string;
}

/** Returns the page of a user's grants, each with a form that revokes it. It has no scripts. */
export function showGrants(view: GrantsView, variant: Variant | undefined): ActionResponse {
  const { user, grants, ticket } = view;
  const intro = `<p>You are signed in as <strong><bdi>${html(user)}</bdi></strong>.
${grants.length === 0 ? 'No application can use your account.' : 'These applications can use your account:'}</p>`;
  const body = [intro, ...grants.map((grant) => formatSection(grant, view))].join('\n');
  const json = { user, ticket, grants: grants.map(toMember) };
  return showPage({ status: 200, title: 'Your permissions', body, json }, variant);
}

function formatSection({ id, client, scopes, issued, ends }: Grant, { ticket, action }: GrantsView): string {
  return `<section>
<p><strong><bdi>${html(client)}</bdi></strong> can</p>
<ul>
${scopes.map((scope) => `<li>${describeScope(scope)}</li>`).join('\n')}
</ul>
<p>Allowed on ${formatDate(issued)}, until ${formatDate(ends)}.</p>
<form method="post" action="${html(action)}">
<input type="hidden" name="ticket" value="${html(ticket)}">
<input type="hidden" name="grant" value="${html(id)}">
<button>Revoke the permission of <bdi>${html(client)}</bdi></button>
</form>
</section>`;
}

function toMember({ id, client, scopes, issued, ends }: Grant): Readonly<Record<string, string>> {
  const [from, until] = [formatIso(issued), formatIso(ends)];
  return { id, client, scope: formatScope(scopes), issued: from, expires: until };
}

function formatDate(ms: number): string {
  return `${formatIso(ms).slice(0, 16).replace('T', ' ')} UTC`;
}

function formatIso(ms: number): string {
  return new Date(ms).toISOString();
}
