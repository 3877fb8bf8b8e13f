import { maxFormParameters } from '../../http/form.ts';
import type { ActionResponse, Variant } from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import { formatScope } from '../scopes.ts';
import { html, showPage } from './html-page.ts';

/** The content of the consent page. */
interface Question {
  readonly client: string;
  readonly user: string;
  readonly scopes: readonly Scope[];
  readonly ticket: string;
  /** Lifetime of the ticket (ms). */
  readonly lifetime: number;
  /** The path that the form is sent to. */
  readonly action: string;
  /** The path of the page where the user can revoke the permission. */
  readonly grants: string;
  /** The address that the browser is redirected to; undefined if there is no redirect (`oob`). */
  readonly destination: string | undefined;
  readonly variant: Variant | undefined;
}

/** Describes in HTML what a client with a scope can do. */
export function describeScope(scope: Scope): string {
  if (scope === 'read') return 'read the data that you can read';
  return scope === 'write' ? 'add, change and delete the data that you can change' : html(scope);
}

/** Returns the consent page: one form with the buttons Allow and Refuse, without scripts. */
export function showQuestion(question: Question): ActionResponse {
  const { client, user, scopes, ticket, lifetime, action, grants, destination } = question;
  const body = `<p>You are signed in as <strong><bdi>${html(user)}</bdi></strong>.
If you allow it, <strong><bdi>${html(client)}</bdi></strong> can do the following in your name, until the permission expires or you
<a href="${html(grants)}">revoke it</a>:</p>
<ul>
${scopes.map((scope) => `<li>${describeScope(scope)}</li>`).join('\n')}
</ul>
<p>The application does not see your password.${destination === undefined ? '' : ` Your answer is sent to <bdi>${html(destination)}</bdi>.`}</p>
<form method="post" action="${html(action)}">
<input type="hidden" name="consent_ticket" value="${html(ticket)}">
<button class="primary" name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Refuse</button>
</form>
<p>This page expires in ${duration(lifetime)}.</p>`;
  const json = {
    consent_ticket: ticket,
    client_id: client,
    scope: formatScope(scopes),
    expires_in: Math.floor(lifetime / 1000),
  };
  return showPage(
    { status: 200, title: `Allow ${client} to use your account?`, body, json },
    question.variant,
  );
}

/** Error description for a form with too many parameters. */
export const tooManyParameters = `A form can have at most ${maxFormParameters} parameters.`;

/** Returns an error page, instead of a redirect to an unverified address (RFC 6749 §4.1.2.1). */
export function showRefusal(sentence: string, variant: Variant | undefined): ActionResponse {
  return showPage(
    {
      status: 400,
      title: 'The request cannot be processed',
      body: `<p>${html(sentence)}</p>\n<p>Go back to the application and start again.</p>`,
      json: { error: 'invalid_request', error_description: sentence },
    },
    variant,
  );
}

function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const [count, unit] = minutes > 0 ? [minutes, 'minute'] : [Math.floor(ms / 1000), 'second'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
