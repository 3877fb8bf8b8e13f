import { maxFormParameters } from '../../http/form.ts';
import type { Outcome, Variant } from '../../pipeline/resource.ts';
import type { Scope } from '../../principal.ts';
import { formatScope } from '../scopes.ts';
import { html, showPage } from './html-page.ts';

/** What the page shows. */
export interface Question {
  readonly client: string;
  readonly user: string;
  readonly scopes: readonly Scope[];
  readonly ticket: string;
  /** How long the ticket is good for (ms). */
  readonly lasts: number;
  /** The path that the answer is sent to. */
  readonly action: string;
  /** Where the answer is sent to; undefined where it is not sent anywhere (`oob`). */
  readonly destination: string | undefined;
  readonly variant: Variant | undefined;
}

const inWords: Readonly<Record<Scope, string>> = {
  read: 'read what you may read here',
  write: 'add, change and delete what you may change here',
};

/** The page on which a user allows a client something or refuses it: one form, two buttons, no script. */
export function showQuestion(question: Question): Outcome {
  const { client, user, scopes, ticket, lasts, action, destination } = question;
  const body = `<p>You are known here as <strong><bdi>${html(user)}</bdi></strong>.
If you allow it, <strong><bdi>${html(client)}</bdi></strong> can do this in your name, until that ends or is taken back:</p>
<ul>
${scopes.map((scope) => `<li>${inWords[scope]}</li>`).join('\n')}
</ul>
<p>It does not learn your password.${destination === undefined ? '' : ` Your answer is sent to <bdi>${html(destination)}</bdi>.`}</p>
<form method="post" action="${html(action)}">
<input type="hidden" name="consent_ticket" value="${html(ticket)}">
<button class="deed" name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Refuse</button>
</form>
<p>This question is open for ${duration(lasts)}.</p>`;
  const json = {
    consent_ticket: ticket,
    client_id: client,
    scope: formatScope(scopes),
    expires_in: Math.floor(lasts / 1000),
  };
  return showPage(
    { status: 200, title: `Allow ${client} to use your account?`, body, json },
    question.variant,
  );
}

/** The refusal of a form that is not decoded. */
export const tooManyParameters = `A form has at most ${maxFormParameters} parameters.`;

/** The page that says why nothing can be asked or answered, instead of a redirect to an unverified address (RFC 6749 §4.1.2.1). */
export function showRefusal(sentence: string, variant: Variant | undefined): Outcome {
  return showPage(
    {
      status: 400,
      title: 'This cannot be answered',
      body: `<p>${html(sentence)}</p>\n<p>Go back to the application that sent you, and begin again there.</p>`,
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
