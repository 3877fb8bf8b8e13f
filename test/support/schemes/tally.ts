// A signature scheme that nobody has, declared outside the server. Times are written in base 36, signatures have a version.
import { createHmac } from 'node:crypto';
import { defineScheme } from '../../../src/index.ts';

const writeTime = (date: number): string => Math.floor(date / 1000).toString(36);
const readTime = (text = ''): number =>
  /^[0-9a-z]{1,8}$/.test(text) ? Number.parseInt(text, 36) * 1000 : Number.NaN;

export const tally = defineScheme({
  headers: ['X-Tally-User', 'X-Tally-Time', 'X-Tally-Nonce', 'X-Tally'],
  needsBody: true,
  window: '5m',
  parse: ({ headers }) => ({
    user: headers.get('X-Tally-User'),
    date: headers.has('X-Tally-Time') ? readTime(headers.get('X-Tally-Time')) : undefined,
    nonce: headers.get('X-Tally-Nonce'),
    signature: headers.get('X-Tally')?.replace(/^1:/, ''),
  }),
  message: ({ method, path, query, headers, body }, { user, date, nonce }) => [
    ['', 'v1:'],
    ['timestamp', writeTime(date), 'time'],
    ['', '\n'],
    ['nonce', nonce],
    ['', '\n'],
    ['user', user],
    ['', '\n'],
    ['method', method],
    ['', '\n'],
    ['path', path],
    ['', '\n'],
    ['query', query],
    ['', '\n'],
    ['host', headers.get('Host') ?? ''],
    ['', '\n'],
    ['X-Meta', headers.get('X-Meta') ?? '', 'header'],
    ['', '\n'],
    ['body', body],
  ],
  sign: (message, key) => createHmac('sha256', key).update(message).digest('hex'),
  format: ({ user, date, nonce, signature }) => ({
    headers: {
      'X-Tally-User': user,
      'X-Tally-Time': writeTime(date),
      'X-Tally-Nonce': nonce,
      'X-Tally': `1:${signature}`,
    },
  }),
});
