// Proposes texts by the names of their members, so that values look like what they are.

/** The texts for names without `_`, `-` and capital letters, the first that matches. */
const texts: readonly (readonly [name: RegExp, text: string])[] = [
  [/e?mail(?:address)?$/, 'ann@example.com'],
  [/^(?:first|given)name$/, 'Ann'],
  [/^(?:last|family|sur)name$/, 'Smith'],
  [/^(?:user|login|nick)(?:name)?$/, 'ann'],
  [/^(?:full|display|holder|customer|contact)?name$/, 'Ann Smith'],
  [/^(?:company|organi[sz]ation|business)(?:name)?$/, 'Example Ltd'],
  [/currency(?:code)?$/, 'EUR'],
  [/country(?:code)?$/, 'DE'],
  [/^(?:lang|language|locale)(?:code)?$/, 'en'],
  [/^timezone$/, 'Europe/Berlin'],
  [/(?:phone|mobile|fax)(?:number)?$/, '+4930123456'],
  [/^(?:city|town)$/, 'Berlin'],
  [/^(?:address|street|addressline|line)\d?$/, 'Example Street 1'],
  [/^(?:zip|postal|post)(?:code)?$/, '10115'],
  [/(?:url|uri|href|website)s?$/, 'https://example.com/'],
  [/^(?:title|subject|summary|description|comment|note|message|text)$/, 'An example'],
];

/** Yields texts for the member that a schema describes; none if its name says nothing. `now` is the time in ms. */
export function* proposeNamed(at: string, now: number): Generator<string> {
  const name = memberName(at);
  const instant = new Date(now).toISOString();
  if (/(?:^|_|[a-z])date$/i.test(name)) yield instant.slice(0, 10);
  if (/(?:_at|_on|[a-z]At|[a-z]On|timestamp|date_?time)$/.test(name)) yield instant;
  const plain = name.replace(/[_-]/g, '').toLowerCase();
  const [, text] = texts.find(([form]) => form.test(plain)) ?? [];
  if (text !== undefined) yield text;
}

/** Returns the name of the member that a place describes, or whose items: `tags` of `#/properties/tags/items`. */
function memberName(at: string): string {
  const marker = '/properties/';
  const from = at.lastIndexOf(marker);
  return from === -1 ? '' : (at.slice(from + marker.length).split('/')[0] ?? '');
}
