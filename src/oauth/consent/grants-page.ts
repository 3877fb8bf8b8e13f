import type { ActionResponse, Variant } from '../../pipeline/resource.ts';
import type { Grant } from '../records.ts';
import { formatScope } from '../scopes.ts';
import { describeScope } from './consent-page.ts';
import { html, showPage } from './html-page.ts';

/** The content of the page of grants. */
export interface GrantsView {
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
