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
  const utf16 = '<?xml version="1.0" encoding="UTF-16"?>';
  const utf8 = '<?xml version="1.0" encoding="UTF-8"?>';
  for (const [mark, charset, declaration, status] of [
    ['', '', '', 201],
    ['', '', utf8, 201],
    ['', '; charset=utf-8', utf8, 201],
    ['', '; charset="UTF-8"', latin, 201],
    ['', '; charset=utf-8', latin, 201],
    ['\ufeff', '', latin, 201],
    ['\ufeff', '; charset=utf-8', latin, 201],
    ['\ufeff', '; charset=iso-8859-1', '', 201],
    ['\ufeff', '; charset=iso-8859-1', latin, 201],
    ['\ufeff', '; charset=utf-16', utf16, 201],
    ['\ufeff', '; charset=utf-8', utf16, 201],
    ['', '; charset=utf-8', utf16, 201],
    ['', '', latin, 415],
    ['', '', utf16, 415],
    ['', '; charset=iso-8859-1', '', 415],
    ['', '; charset=iso-8859-1', utf8, 415],
    ['', '; charset=iso-8859-1', latin, 415],
    ['', '; charset=utf-16', utf16, 415],
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
      const named =
        status === 201 ? /<title>Caf\u00e9<\/title>/ : /<encoding>(?:iso-8859-1|utf-16)<\/encoding>/i;
      assert.match(await response.text(), named);
    });
  }

  const document = '<article><title>Tea</title><price currency="EUR">1.50</price></article>';
  const post = (type: string, body: string | Uint8Array) =>
    double.as('ann').fetch('/articles', { method: 'POST', headers: { 'Content-Type': type }, body });

  for (const charset of ['', '; charset=utf-8', '; charset=utf-16'])
    test(`with the byte order mark of UTF-16 and "${charset}" is refused`, async () => {
      const content = Buffer.from(`\ufeff<?xml version="1.0"?>${document}`, 'utf16le');
      for (const sent of [content, Buffer.from(content).swap16()])
        assert.equal((await post(`application/xml${charset}`, sent)).status, 415);
    });

  test('is decided by a byte order mark in text/xml and in pieces of one byte too', async () => {
    const bytes = Buffer.from(`\ufeff${latin}${document}`);
    const pieces = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const headers = { 'Content-Type': 'text/xml; charset=iso-8859-1' };
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body: pieces, duplex: 'half' };
    assert.equal((await double.as('ann').fetch('/articles', init)).status, 201);
  });

  for (const [name, bytes] of [
    ['nothing', []],
    ['a part of a byte order mark', [0xef, 0xbb]],
    ['a byte order mark after a space', [0x20, 0xef, 0xbb, 0xbf]],
  ] as const)
    test(`in another charset is refused if it begins with ${name}`, async () => {
      assert.equal((await post('application/xml; charset=iso-8859-1', Buffer.from(bytes))).status, 415);
    });

  test('does not concern JSON, whose charset can only be UTF-8', async () => {
    const body = `\ufeff{"title": "Tea", "price": {"currency": "EUR", "value": "1.50"}}`;
    assert.equal((await post('application/json; charset=iso-8859-1', body)).status, 415);
  });
});
