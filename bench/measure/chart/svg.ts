/** Returns an element with attributes; the content is markup. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  ...content: readonly string[]
): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(shortest(value))}"`);
  return content.length === 0
    ? `<${name}${written.join('')}/>`
    : `<${name}${written.join('')}>${content.join('')}</${name}>`;
}

/** Returns a text element at a position. */
export function label(
  x: number,
  y: number,
  text: string,
  attributes: Readonly<Record<string, string>> = {},
): string {
  return element('text', { x, y, ...attributes }, escaped(text));
}

/** Escapes text for content or an attribute value. Replaces characters that XML does not allow. */
export function escaped(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"']/g, (character: string) => names[character] ?? '');
}

function shortest(value: string | number): string {
  return typeof value === 'string' ? value : String(Math.round(value * 100) / 100);
}

/** The colors: light, or dark if the reader's system is. */
const style = `
:root { --ground: #ffffff; --ink: #1f2328; --faint: #59636e; --line: #d9dee3;
  --ours: #0b7285; --yardstick: #59636e; --peer: #b4bdc6; --a: #0b7285; --b: #c2410c; --c: #7048b6; --d: #4d7c0f; }
@media (prefers-color-scheme: dark) { :root { --ground: #0d1117; --ink: #e6edf3; --faint: #9198a1; --line: #30363d;
  --ours: #3bc9db; --yardstick: #9198a1; --peer: #4b5561; --a: #3bc9db; --b: #fb923c; --c: #b197fc; --d: #a3e635; } }
text { font: 13px ui-sans-serif, system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif; fill: var(--ink); }
.title { font-size: 16px; font-weight: 600; } .group { font-weight: 600; } .faint { fill: var(--faint); font-size: 12px; }
.own { font-weight: 600; } .end { text-anchor: end; } .middle { text-anchor: middle; }
.ground { fill: var(--ground); } .grid { stroke: var(--line); } .axis { stroke: var(--faint); }
.ours { fill: var(--ours); } .yardstick { fill: var(--yardstick); } .peer { fill: var(--peer); }
.whisker { stroke: var(--ink); stroke-width: 1.25; fill: none; } .cut { fill: var(--ground); }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round; } .ring { stroke: var(--ground); stroke-width: 1.5; }
.a { stroke: var(--a); } .b { stroke: var(--b); } .c { stroke: var(--c); } .d { stroke: var(--d); }
.dot-a { fill: var(--a); } .dot-b { fill: var(--b); } .dot-c { fill: var(--c); } .dot-d { fill: var(--d); }
`;

/** Returns a complete picture of this size. */
export function picture(width: number, height: number, title: string, ...content: readonly string[]): string {
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  return `${element(
    'svg',
    { xmlns: 'http://www.w3.org/2000/svg', ...size, role: 'img', 'aria-label': title },
    element('title', {}, escaped(title)),
    `<style>${style}</style>`,
    element('rect', { class: 'ground', width, height, rx: 6 }),
    ...content,
  )}\n`;
}
