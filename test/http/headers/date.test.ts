import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { createDateCache, formatDate, parseDate, parseSignedDate } from '../../../src/http/headers/date.ts';
import { hostile } from '../../support/http/hostile.ts';
import { modulePath, reading } from '../../support/program.ts';
import { seeded } from '../../support/seeded.ts';

// `date -u -d '1994-11-06 08:49:37' +%s` says 784111777.
const example = 784_111_777_000;
const now = Date.UTC(2025, 5, 15, 12, 0, 0);

test('the three forms of RFC 9110 §5.6.7 name the same second', () => {
  assert.equal(parseDate('Sun, 06 Nov 1994 08:49:37 GMT', now), example);
  assert.equal(parseDate('Sunday, 06-Nov-94 08:49:37 GMT', now), example);
  assert.equal(parseDate('Sun Nov  6 08:49:37 1994', now), example);
  assert.equal(parseDate('Wed Nov 16 08:49:37 1994', now), example + 10 * 86_400_000);
});

test('a date is written as an IMF-fixdate', () => {
  assert.equal(formatDate(example), 'Sun, 06 Nov 1994 08:49:37 GMT');
  assert.equal(formatDate(example + 999), 'Sun, 06 Nov 1994 08:49:37 GMT');
  assert.equal(formatDate(0), 'Thu, 01 Jan 1970 00:00:00 GMT');
  assert.equal(formatDate(-62_167_219_200_000), 'Sat, 01 Jan 0000 00:00:00 GMT');
  for (const ms of [Number.NaN, Number.POSITIVE_INFINITY, 253_402_300_800_000, -62_167_219_200_001])
    assert.throws(() => formatDate(ms), RangeError);
});

test('a date cache returns the date of each second', () => {
  const httpDate = createDateCache();
  assert.equal(httpDate(example), 'Sun, 06 Nov 1994 08:49:37 GMT');
  assert.equal(httpDate(example + 999), 'Sun, 06 Nov 1994 08:49:37 GMT');
  assert.equal(httpDate(example + 1000), 'Sun, 06 Nov 1994 08:49:38 GMT');
  assert.equal(httpDate(example - 1), 'Sun, 06 Nov 1994 08:49:36 GMT');
  assert.equal(httpDate(-1), 'Wed, 31 Dec 1969 23:59:59 GMT');
});

test('a two-digit year lies at most 50 years ahead', () => {
  const year = (date: string, at = now): number | undefined => {
    const ms = parseDate(date, at);
    return ms === undefined ? undefined : new Date(ms).getUTCFullYear();
  };
  assert.equal(year('Sunday, 06-Nov-74 08:49:37 GMT'), 2074);
  assert.equal(year('Sunday, 06-Nov-76 08:49:37 GMT'), 1976);
  assert.equal(year('Sunday, 15-Jun-75 12:00:00 GMT'), 2075);
  assert.equal(year('Sunday, 15-Jun-75 12:00:01 GMT'), 1975);
  assert.equal(year('Sunday, 06-Nov-05 08:49:37 GMT', Date.UTC(2095, 0, 1)), 2105);
  assert.equal(year('Sunday, 29-Feb-00 00:00:00 GMT'), 2000);
  assert.equal(year('Sunday, 29-Feb-01 00:00:00 GMT'), undefined);
});

test('anything but an exact HTTP date is rejected', () => {
  const refused = [
    '',
    '0',
    'Mon, 06 Nov 1994 08:49:37 GMT', // a Sunday
    'Xxx, 06 Nov 1994 08:49:37 GMT',
    'sun, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 gmt',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun,  6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 94 08:49:37 GMT',
    'Sun, 06-Nov-1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 8:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT ',
    ' Sun, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
    'Sun, 31 Feb 1993 08:49:37 GMT',
    'Sun, 29 Feb 1900 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:37 GMT',
    'Sat, 31 Dec 2016 23:59:60 GMT', // the leap second that there was
    'Sun, +6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08.49.37 GMT',
    'Sun, 06-Nov-94 08:49:37 GMT',
    'Sunday, 06-Nov-1994 08:49:37 GMT',
    'Sunday, 06 Nov 94 08:49:37 GMT',
    'Sonntag, 06-Nov-94 08:49:37 GMT',
    'Sunday, 06-Nov--4 08:49:37 GMT',
    'Sun Nov 6 08:49:37 1994',
    'Sun Nov 06 08:49:37 1994 ',
    'Sun Nov  6 08:49:37 1994 GMT',
    'Sun Feb 30 08:49:37 1994',
    'Sxn Nov  6 08:49:37 1994',
    '1994-11-06T08:49:37Z',
  ];
  for (const value of refused) assert.equal(parseDate(value, now), undefined, value);
});

test('a signed date is the short form in UTC or an IMF-fixdate', () => {
  // `date -u -d '2013-04-20 12:59:24' +%s` says 1366462764.
  const expected = 1_366_462_764_000;
  for (const value of [
    '20 apr 2013 12:59:24',
    '20 Apr 2013 12:59:24',
    '20 APR 2013 12:59:24',
    '20 aPr 2013 12:59:24',
  ])
    assert.equal(parseSignedDate(value), expected, value);
  assert.equal(parseSignedDate('Sat, 20 Apr 2013 12:59:24 GMT'), expected);
  assert.equal(parseSignedDate('1 jan 1970 00:00:00'), 0);
  assert.equal(parseSignedDate('01 jan 1970 00:00:00'), 0);
  assert.equal(parseSignedDate('29 feb 2024 00:00:00'), Date.UTC(2024, 1, 29));
});

test('anything but an exact signed date is rejected', () => {
  const refused = [
    '',
    '20apr201312:59:24',
    '20  apr 2013 12:59:24',
    ' 20 apr 2013 12:59:24',
    '20 apr 2013 12:59:24 ',
    '20 apr 2013 12:59:24 GMT',
    '20 apr 2013  12:59:24',
    '20\tapr 2013 12:59:24',
    '20 april 2013 12:59:24',
    '20 4 2013 12:59:24',
    '20 abc 2013 12:59:24',
    '20 avr 2013 12:59:24',
    '20 apr 13 12:59:24',
    '20 apr 2013 12:59',
    '20 apr 2013 2:59:24',
    '31 feb 2013 12:59:24',
    '31 apr 2013 12:59:24',
    '29 feb 2023 00:00:00',
    '0 apr 2013 12:59:24',
    '00 apr 2013 12:59:24',
    '32 apr 2013 12:59:24',
    '20 apr 2013 24:00:00',
    '20 apr 2013 12:59:60',
    '20 apr 2013 12:60:24',
    '20 ſep 2013 12:59:24',
    '20 apr -013 12:59:24',
    '+2 apr 2013 12:59:24',
    'Sun, 20 Apr 2013 12:59:24 GMT', // a Saturday
    'Saturday, 20-Apr-13 12:59:24 GMT',
    'Sat Apr 20 12:59:24 2013',
  ];
  for (const value of refused) assert.equal(parseSignedDate(value), undefined, value);
});

test('the time zone of the host changes nothing', () => {
  const module = modulePath('src/http/headers/date.ts');
  const script = `
    const { formatDate, parseDate, parseSignedDate } = await import(${JSON.stringify(module)});
    console.log(JSON.stringify([
      new Date(2013, 0, 1).getTimezoneOffset(),
      parseSignedDate('20 apr 2013 12:59:24'),
      parseDate('Sun Nov  6 08:49:37 1994', 0),
      parseDate('Sunday, 06-Nov-94 08:49:37 GMT', ${now}),
      formatDate(${example}),
    ]));`;
  const out = execFileSync(process.execPath, [...reading, '--input-type=module', '-e', script], {
    env: { ...process.env, TZ: 'Asia/Tokyo' },
    encoding: 'utf8',
  });
  assert.deepEqual(JSON.parse(out), [
    -540,
    1_366_462_764_000,
    example,
    example,
    'Sun, 06 Nov 1994 08:49:37 GMT',
  ]);
});

test('every second is parsed back unchanged from each form', () => {
  const random = seeded();
  for (let round = 0; round < 3000; round += 1) {
    const ms = (Math.floor(random.next() * 315_569_520_000) - 62_167_219_200) * 1000;
    const text = formatDate(ms);
    const message = `${text}, seed ${random.seed}`;
    assert.equal(text, new Date(ms).toUTCString(), message);
    assert.equal(parseDate(text, now), ms, message);
    assert.equal(parseSignedDate(text), ms, message);
    const [weekday = '', day = '', month = '', year = '', time = ''] = text.replace(',', '').split(' ');
    assert.equal(parseSignedDate(`${Number(day)} ${month.toUpperCase()} ${year} ${time}`), ms, message);
    assert.equal(
      parseDate(`${weekday} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`, now),
      ms,
      message,
    );
    const long = new Date(ms).toLocaleDateString('en-US', { weekday: 'long', timeZone: 'UTC' });
    const short = parseDate(`${long}, ${day}-${month}-${year.slice(2)} ${time} GMT`, ms);
    assert.equal(short, ms, message);
  }
});

test('a day is accepted exactly if it is in the calendar', () => {
  const random = seeded();
  const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
  for (let round = 0; round < 3000; round += 1) {
    const year = 1800 + random.below(600);
    const month = random.below(12);
    const day = random.below(34);
    const real = new Date(Date.UTC(year, month, day));
    const exists = real.getUTCMonth() === month && real.getUTCDate() === day;
    const text = `${day} ${months[month]} ${year} 00:00:00`;
    assert.equal(parseSignedDate(text), exists ? real.getTime() : undefined, `${text}, seed ${random.seed}`);
  }
});

test('no value makes the date parsers throw', () => {
  const random = seeded();
  const pieces = [...', 6-:', ...['Sun', 'Sunday', ', ', '06', 'Nov', '1994', '94', '08:49:37', ' GMT']];
  for (let round = 0; round < 3000; round += 1) {
    const value = hostile(random, pieces);
    for (const ms of [parseDate(value, now), parseSignedDate(value)])
      assert.ok(
        ms === undefined || Number.isSafeInteger(ms),
        `${JSON.stringify(value)}, seed ${random.seed}`,
      );
  }
});
