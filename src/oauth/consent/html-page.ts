import { createHash } from 'node:crypto';
import { toRepresentable } from '../../http/syntax/characters.ts';
import type { ActionResponse, Variant } from '../../pipeline/resource.ts';
import { escapeAttribute } from '../../xml/writer.ts';

/** The representations of a page: HTML for a browser, JSON for other clients. */
export const pageVariants: readonly Variant[] = [
  { type: 'text/html; charset=utf-8', mark: 'h' },
  { type: 'application/json', mark: 'j' },
];

/** Returns whether the variant is JSON. */
function isJson(variant: Variant | undefined): boolean {
  return variant?.type === 'application/json';
}

/** A member of a page in JSON. */
type JsonMember = string | number | readonly Readonly<Record<string, string>>[];

/** A page in HTML and in JSON. */
interface Page {
  readonly status: number;
  readonly title: string;
  /** The HTML below the title. */
  readonly body: string;
  readonly json: Readonly<Record<string, JsonMember>>;
}

/** Returns a page in one of `pageVariants`. It cannot be stored or framed, and sends no referrer. */
export function showPage({ status, title, body, json }: Page, variant: Variant | undefined): ActionResponse {
  if (isJson(variant)) {
    const representation = { type: 'application/json', body: JSON.stringify(json) };
    return { status, noStore: true, representation };
  }
  const content = formatDocument(html(title), body);
  return {
    status,
    noStore: true,
    headers: [
      ['Content-Security-Policy', contentSecurityPolicy()],
      ['X-Frame-Options', 'DENY'],
      ['Referrer-Policy', 'no-referrer'],
    ],
    representation: { type: 'text/html; charset=utf-8', body: content },
  };
}

/** Escapes text for HTML, in an element or in a double-quoted attribute. */
export function html(text: string): string {
  return escapeAttribute(toRepresentable(text));
}

// Both color schemes have a contrast of at least 7:1 for text (WCAG 2.2 §1.4.6).
const style = `
:root { color-scheme: light dark; --ink: #1a1c1e; --paper: #fff; --line: #5b6066; --primary: #0b4a8f; --on-primary: #fff }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eceef0; --paper: #14171a; --line: #9aa1a9; --primary: #a9cdfa; --on-primary: #08233f }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1.0625rem/1.5 system-ui, sans-serif }
main { max-width: 34rem; margin: 0 auto; padding: 2rem 1.25rem; overflow-wrap: anywhere }
a { color: inherit }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25 }
ul { margin: 0 0 1rem; padding-left: 1.25rem }
form { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.5rem 0 }
button {
  flex: 1 1 9rem; min-height: 3rem; padding: .5rem 1rem; font: inherit; font-weight: 600;
  color: var(--ink); background: transparent; border: 2px solid var(--line); border-radius: .5rem; cursor: pointer
}
button.primary { color: var(--on-primary); background: var(--primary); border-color: var(--primary) }
button:focus-visible { outline: 3px solid var(--ink); outline-offset: 2px }
code { font-size: 1.125rem }
section { margin: 1.5rem 0; padding-top: 1rem; border-top: 1px solid var(--line) }
`;

// No form-action: browsers also apply it to the redirect after the form is submitted.
function contentSecurityPolicy(): string {
  return [
    `default-src 'none'`,
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ');
}

function formatDocument(title: string, body: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}
