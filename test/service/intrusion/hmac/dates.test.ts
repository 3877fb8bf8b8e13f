import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  type Attempt,
  date,
  formatRequest,
  fullLines,
  fullSignature,
  openGuarded,
  outcome,
  refuses,
  signed,
} from '../../../support/intrusion/guarded.ts';
import { exchange } from '../../../support/net/wire.ts';

const testServer = await openGuarded();
after(() => testServer.close());

const malformed = '400 malformed-credentials';
const stale = '401 date-out-of-window';

/** A date that is signed as it is sent. */
const dated = (name: string, value: string, outcome = malformed): Attempt => [
  name,
  (nonce) => signed({ nonce, date: value }),
  outcome,
];

refuses(testServer, [
  dated('601 seconds behind', '29 feb 2024 11:49:59', stale),
  dated('601 seconds ahead', '29 feb 2024 12:10:01', stale),
  dated('a day behind', '28 feb 2024 12:00:00', stale),
  dated('a year ahead', '28 feb 2025 12:00:00', stale),
  dated('1970', '01 jan 1970 00:00:00', stale),
  dated('the year 0', '29 feb 0000 12:00:00', stale),
  dated('the year 9999', '31 dec 9999 23:59:59', stale),
  dated('601 seconds behind in an IMF-fixdate', 'Thu, 29 Feb 2024 11:49:59 GMT', stale),
  dated('601 seconds ahead in an IMF-fixdate', 'Thu, 29 Feb 2024 12:10:01 GMT', stale),
  dated('a leap second', '29 feb 2024 11:59:60'),
  dated('a leap second where one was', '31 dec 2016 23:59:60'),
  dated('the 31st of February', '31 feb 2024 12:00:00'),
  dated('the 30th of February', '30 feb 2024 12:00:00'),
  dated('the 29th of February of a year without one', '29 feb 2023 12:00:00'),
  dated('the 29th of February 1900', '29 feb 1900 12:00:00'),
  dated('the day 0', '00 feb 2024 12:00:00'),
  dated('the hour 24', '28 feb 2024 24:00:00'),
  dated('the minute 60', '29 feb 2024 11:60:00'),
  dated('an hour of one digit', '29 feb 2024 1:00:00'),
  dated('no seconds', '29 feb 2024 12:00'),
  dated('fractions of a second', '29 feb 2024 12:00:00.5'),
  dated('a year of two digits', '29 feb 24 12:00:00'),
  dated('a year of five digits', '29 feb 02024 12:00:00'),
  dated('a negative year', '29 feb -024 12:00:00'),
  dated('an offset of nothing', '29 feb 2024 12:00:00 +0000'),
  dated('an offset of Tokyo', '29 feb 2024 21:00:00 +0900'),
  dated('a zone by name', '29 feb 2024 12:00:00 UTC'),
  dated('a zone by a letter', '29 feb 2024 12:00:00Z'),
  dated('a zone in an IMF-fixdate', 'Thu, 29 Feb 2024 12:00:00 +0000'),
  dated('another zone than GMT in an IMF-fixdate', 'Thu, 29 Feb 2024 07:00:00 EST'),
  dated('the wrong day of the week', 'Fri, 29 Feb 2024 12:00:00 GMT'),
  dated('the form of RFC 850', 'Thursday, 29-Feb-24 12:00:00 GMT'),
  dated('the form of asctime', 'Thu Feb 29 12:00:00 2024'),
  dated('ISO 8601', '2024-02-29T12:00:00Z'),
  dated('seconds since 1970', '1709208000'),
  dated('milliseconds since 1970', '1709208000000'),
  dated('no spaces at all', '29feb202412:00:00'),
  dated('two spaces', '29  feb 2024 12:00:00'),
  dated('a tab for a space', '29\tfeb 2024 12:00:00'),
  dated('a space that does not break', '29\u00a0feb 2024 12:00:00'),
  dated('the month written out', '29 february 2024 12:00:00'),
  dated('the month in another language', '29 f\u00e9v 2024 12:00:00'),
  dated('the month as a number', '29 02 2024 12:00:00'),
  dated('the month before the day', 'feb 29 2024 12:00:00'),
  dated(
    'digits of another script',
    '\u0662\u0669 feb 2024 12:00:00'.replace(/./g, (c) => Buffer.from(c).toString('latin1')),
  ),
  dated('garbage', 'yesterday at noon'),
  dated('a comma and a second date', `${date}, ${date}`),
  dated('nothing', ''),
  [
    'a signature without a date',
    (nonce) => formatRequest({ lines: fullLines({ nonce }).slice(0, 1) }),
    '401 date-missing',
  ],
  [
    'a signature with a date in another field',
    (nonce) => formatRequest({ lines: [...fullLines({ nonce }).slice(0, 1), `Last-Modified: ${date}`] }),
    '401 date-missing',
  ],
  [
    'two dates, the same',
    (nonce) => formatRequest({ lines: [...fullLines({ nonce }), `Date: ${date}`] }),
    '400 repeated-field',
  ],
  [
    'two dates, one of them stale',
    (nonce) => formatRequest({ lines: [...fullLines({ nonce }), 'Date: 28 feb 2024 12:00:00'] }),
    '400 repeated-field',
  ],
  [
    'two X-Dates',
    (nonce) => formatRequest({ lines: [...fullLines({ nonce }), `X-Date: ${date}`, `X-Date: ${date}`] }),
    '400 repeated-field',
  ],
  [
    'a stale X-Date beside a good Date, both signed for',
    (nonce) =>
      formatRequest({
        lines: [
          `Authentication: hmac ann:${nonce}:${fullSignature({ nonce, date: '28 feb 2024 12:00:00' })}`,
          `Date: ${date}`,
          'X-Date: 28 feb 2024 12:00:00',
        ],
      }),
    stale,
  ],
  [
    'an empty X-Date beside a good Date',
    (nonce) => formatRequest({ lines: [...fullLines({ nonce }), 'X-Date:'] }),
    malformed,
  ],
  [
    'a stale date under a wrong signature, which is not told apart',
    (nonce) =>
      formatRequest({
        lines: [...fullLines({ nonce }).slice(0, 1), 'Date: 28 feb 2024 12:00:00'],
      }),
    '401 credentials-refused',
  ],
]);

for (const [name, value] of [
  ['600 seconds behind', '29 feb 2024 11:50:00'],
  ['600 seconds ahead', '29 feb 2024 12:10:00'],
  ['600 seconds behind in an IMF-fixdate', 'Thu, 29 Feb 2024 11:50:00 GMT'],
  ['a month in capitals', '29 FEB 2024 12:00:00'],
  ['a month in both cases', '29 fEb 2024 12:00:00'],
] as const) {
  test(`${name} passes`, async () => {
    const nonce = testServer.freshNonce();
    assert.equal(await outcome(testServer.port, signed({ nonce, date: value })), '200');
  });
}

test('the second of the clock counts as a whole: 600 seconds behind pass to its last millisecond', async (context) => {
  const server = await openGuarded();
  context.after(() => server.close());
  const behind = (nonce: string): string => signed({ nonce, date: '29 feb 2024 11:50:00' });
  server.clock.advance(999);
  assert.equal(await outcome(server.port, behind('n1')), '200');
  server.clock.advance(1);
  assert.equal(await outcome(server.port, behind('n2')), stale);
});

test('a stale date is told with the time of the server, and only to who holds the secret', async () => {
  const [told] = await exchange(
    testServer.port,
    signed({ nonce: testServer.freshNonce(), date: '28 feb 2024 12:00:00' }),
  );
  assert.equal(told?.field('Date'), 'Thu, 29 Feb 2024 12:00:00 GMT');
  assert.match(told?.text ?? '', /86400 s behind/);
});

test('another window has other edges', async (context) => {
  const server = await openGuarded({ window: 5 });
  context.after(() => server.close());
  const at = (seconds: string, nonce: string): Promise<string> =>
    outcome(server.port, signed({ nonce, date: `29 feb 2024 ${seconds}` }));
  assert.equal(await at('11:59:55', 'n1'), '200');
  assert.equal(await at('12:00:05', 'n2'), '200');
  assert.equal(await at('11:59:54', 'n3'), stale);
  assert.equal(await at('12:00:06', 'n4'), stale);
});
