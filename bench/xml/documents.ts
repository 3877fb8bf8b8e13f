/** The article of the measurements in XML and, for JSON.parse, in JSON. */
export const ARTICLE = Buffer.from(
  '<article><title>The Old Man and the Sea</title><price currency="EUR">12.30</price></article>',
);
export const ARTICLE_JSON = Buffer.from(
  '{"title":"The Old Man and the Sea","price":"12.30","currency":"EUR"}',
);

const UNITS: Readonly<Record<string, string>> = {
  articles:
    '<article>\n  <title>The Old Man and the Sea</title>\n  <price currency="EUR">12.30</price>\n</article>\n',
  attributes: '<item id="1234" class="a b c" href="/articles/1" title="The Old Man" lang="en"/>\n',
  cjk: '<p>これは日本語の文章です。価格は千円、本の題名は「老人と海」です。</p>\n',
  text: `<p>${'The quick brown fox jumps over the lazy dog, and the dog does not mind it at all. '.repeat(12)}</p>\n`,
  entities: '<p>Fish &amp; chips &lt;b&gt; &quot;x&quot; &#233; and &#x20ac; 5 </p>\n',
};

/** The kinds of large documents. */
export const KINDS = Object.keys(UNITS);

/** Returns a document of one kind with at least `bytes` bytes, in chunks of `size` bytes. */
export function chunksOf(kind: string, bytes: number, size: number): Buffer[] {
  const unit = UNITS[kind] ?? '';
  const document = Buffer.from(`<all>${unit.repeat(Math.ceil(bytes / Buffer.byteLength(unit)))}</all>`);
  const chunks: Buffer[] = [];
  for (let at = 0; at < document.length; at += size)
    chunks.push(Buffer.from(document.subarray(at, at + size)));
  return chunks;
}
