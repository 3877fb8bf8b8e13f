import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Double, startDouble } from '../../src/double/index.ts';

// RFC 7303 §3: a byte order mark decides, then the charset, then the XML declaration.
describe('the encoding of a document in XML', () => {
  let double: Double;
  before(async () => {
    double = await startDouble({ users: { ann: { secret: 'a secret of ann' } } });
  });
  after(() => double.close());

  const latin = '<?xml version="1.0" encoding="iso-8859-1"?>';
  const utf8 = '<?xml version="1.0" encoding="UTF-8"?>';
  for (const [mark, charset, declaration, status] of [
    ['', '', '', 201],
    ['', '', utf8, 201],
    ['', '; charset=utf-8', utf8, 201],
    ['', '; charset="UTF-8"', latin, 201],
    ['', '; charset=utf-8', latin, 201],
    ['\ufeff', '', latin, 201],
    ['\ufeff', '; charset=utf-8', latin, 201],
    ['', '', latin, 415],
    ['', '; charset=iso-8859-1', utf8, 415],
  ] as const) {
    const what = `${mark === '' ? 'no byte order mark' : 'a byte order mark'}, "${charset}" and "${declaration}"`;
    test(`with ${what} is ${status === 201 ? 'UTF-8' : 'refused'}`, async () => {
      const content = `${mark}${declaration}<article><title>Caf\u00e9</title><price currency="EUR">1.50</price></article>`;
      const response = await double.as('ann').fetch('/articles', {
        method: 'POST',
        headers: { 'Content-Type': `application/xml${charset}` },
        body: Buffer.from(content),
      });
      assert.equal(response.status, status, String(double.journal.last()));
      if (status === 201) assert.match(await response.text(), /<title>Caf\u00e9<\/title>/);
    });
  }
});
