import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from '../../once.ts';
import { noOrigins } from '../../pipeline/cors-policy.ts';
import { pathForClient } from '../../pipeline/proxy.ts';
import {
  type ActionResponse,
  action,
  type Call,
  type Resource,
  type Variant,
} from '../../pipeline/resource.ts';
import type { OAuthContext } from '../context.ts';
import { type FormContent, formReading } from '../form-body.ts';
import { readParameters } from '../parameters.ts';
import { grantsPath } from '../paths.ts';
import type { Grant } from '../records.ts';
import { formatScope } from '../scopes.ts';
import { describeScope, showRefusal, tooManyParameters } from './consent-page.ts';
import { requireApprovingUser } from './consents.ts';
import { html, pageVariants, showPage } from './html-page.ts';

const signIn = 'Sign in to see and revoke the permissions of applications.';

/** Creates the page where users see the grants that they gave to clients, and revoke them. Users authenticate with Basic. */
export function grantsResource(context: OAuthContext): Resource<unknown, FormContent> {
  const tickets = createPageTickets(context);
  return {
    ownCredentials: true,
    cors: noOrigins,
    produces: pageVariants,
    GET: action('anyone', (call) => show(context, tickets, call)),
    POST: action('anyone', (call) => revoke(context, tickets, call), { reads: [formReading] }),
  };
}

async function show(
  { approver, grants }: OAuthContext,
  tickets: PageTickets,
  { incoming: request, variant }: Call,
): Promise<ActionResponse> {
  const user = await requireApprovingUser(approver, request, signIn);
  const page = {
    user,
    grants: await grants.ofUser(user),
    ticket: tickets.issue(user),
    action: pathForClient(request, grantsPath),
  };
  return showGrants(page, variant);
}

async function revoke(
  { approver, grants }: OAuthContext,
  tickets: PageTickets,
  { incoming: request, body: content, variant }: Call<unknown, FormContent>,
): Promise<ActionResponse> {
  const user = await requireApprovingUser(approver, request, signIn);
  if (content === 'too-many-parameters') return showRefusal(tooManyParameters, variant);
  if (content === undefined || content === 'malformed') return showRefusal('The form is malformed.', variant);
  const { values } = readParameters(content, ['ticket', 'grant']);
  if (!tickets.accepts(user, values.get('ticket') ?? ''))
    return showRefusal(
      'The form has expired or is not yours. Open the page of your permissions again.',
      variant,
    );
  const id = values.get('grant');
  const grant = (await grants.ofUser(user)).find((each) => each.id === id);
  // A grant that ended meanwhile, or was revoked twice, is not an error.
  if (grant !== undefined) await grants.revokeGrant(grant.id);
  return { status: 303, noStore: true, headers: [['Location', pathForClient(request, grantsPath)]] };
}

/** Tickets in the forms of a page: they show that a form was sent from the page of the same user (CSRF protection). */
interface PageTickets {
  /** Returns a ticket for the page of a user. */
  issue(user: string): string;
  /** Returns whether a ticket was issued for this user and has not expired. */
  accepts(user: string, ticket: string): boolean;
}

/** Creates tickets that are not stored: the expiry time and a keyed digest of it and the user. */
function createPageTickets({ clock, masterKey, lifetimes }: OAuthContext): PageTickets {
  const key = once(() => createHmac('sha256', masterKey).update('tickets of the page of grants').digest());
  const computeDigest = (user: string, expires: string): Buffer =>
    createHmac('sha256', key()).update(`${expires}\n${user}`).digest();
  return {
    issue(user) {
      const expires = (clock.now() + lifetimes.ticket).toString(36);
      return `${expires}.${computeDigest(user, expires).toString('base64url')}`;
    },
    accepts(user, ticket) {
      const [, expires = '', digest = ''] = /^([0-9a-z]{1,11})\.([\w-]{43})$/.exec(ticket) ?? [];
      const sent = Buffer.from(digest, 'base64url');
      const expected = computeDigest(user, expires);
      const isGenuine = sent.length === expected.length && timingSafeEqual(sent, expected);
      return isGenuine && Number.parseInt(expires, 36) > clock.now();
    },
  };
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
