import assert from 'node:assert/strict';
import { after } from 'node:test';
import {
  formatOutcome,
  formatRequest,
  password,
  secrets,
  signed,
} from '../../support/service/test-server.ts';
import { type BothWays, basic, each, listValues, openBothWays, replyTo, type Way } from '../passwords.ts';

const [stranger, believing] = await Promise.all([
  openBothWays(),
  openBothWays({ trustProxy: ['127.0.0.1/32'], explain: true }),
]);
after(() => Promise.all([stranger.close(), believing.close()]));

const hmac = 'hmac realm="Countersign", algorithm="SHA-256"';
const asksForPasswords = [`Basic realm="Countersign", charset="UTF-8", ${hmac}`];
const asksForNone = [hmac];

/** How a request may come: to whom, over what, what else is in it, and which challenges a 401 then has. */
const ways: readonly (readonly [string, () => BothWays, Way, readonly string[], readonly string[]])[] = [
  ['plain HTTP', () => stranger, {}, [], asksForNone],
  ['TLS', () => stranger, { secure: true }, [], asksForPasswords],
  [
    'plain HTTP from an untrusted peer that claims https',
    () => stranger,
    {},
    ['X-Forwarded-Proto: https'],
    asksForNone,
  ],
  [
    'TLS from an untrusted peer that claims http',
    () => stranger,
    { secure: true },
    ['X-Forwarded-Proto: http'],
    asksForPasswords,
  ],
  ['plain HTTP from a trusted proxy', () => believing, {}, [], asksForNone],
  [
    'plain HTTP from a trusted proxy that says https',
    () => believing,
    {},
    ['X-Forwarded-Proto: https'],
    asksForPasswords,
  ],
  [
    'plain HTTP from a trusted proxy whose Forwarded says https',
    () => believing,
    {},
    ['Forwarded: for=192.0.2.1;proto=https'],
    asksForPasswords,
  ],
  [
    'plain HTTP from a trusted proxy that says http',
    () => believing,
    {},
    ['X-Forwarded-Proto: http'],
    asksForNone,
  ],
  ['TLS from a trusted proxy', () => believing, { secure: true }, [], asksForPasswords],
  [
    'TLS from a trusted proxy that says http',
    () => believing,
    { secure: true },
    ['X-Forwarded-Proto: http'],
    asksForNone,
  ],
  [
    'TLS from a trusted proxy whose fields differ',
    () => believing,
    { secure: true },
    ['Forwarded: proto=http', 'X-Forwarded-Proto: https'],
    asksForNone,
  ],
  [
    'TLS from a trusted proxy that says nonsense',
    () => believing,
    { secure: true },
    ['X-Forwarded-Proto: https, https'],
    asksForNone,
  ],
];

type Row = readonly [
  name: string,
  server: () => BothWays,
  bytes: string,
  way: Way,
  outcome: string,
  challenges: readonly string[],
];

const rows = ways.flatMap(([name, server, way, lines, challenges]): Row[] => {
  const secure = challenges === asksForPasswords;
  const clear = (outcome: string): string => (secure ? outcome : '403 tls-required');
  const sent = (...more: string[]): string => formatRequest({ lines: [...lines, ...more] });
  const forged = signed({ nonce: 'forged', secret: 'a guess' });
  const buildRow = (what: string, bytes: string, outcome: string): Row => [
    `${what} over ${name}: ${outcome}`,
    server,
    bytes,
    way,
    outcome,
    outcome.startsWith('401 ') ? challenges : [],
  ];
  return [
    buildRow('nothing', sent(), '401 authentication-required'),
    buildRow(
      'a forged signature',
      forged.replace('\r\n\r\n', ['', ...lines, '', ''].join('\r\n')),
      '401 credentials-refused',
    ),
    buildRow('a wrong password', sent(basic('ann:wrong')), clear('401 credentials-refused')),
    buildRow('the right password', sent(basic(`ann:${password}`)), clear('200')),
    buildRow('no base64', sent('Authorization: Basic x'), clear('400 malformed-credentials')),
    buildRow('another scheme', sent('Authorization: Digest username="ann"'), '401 scheme-not-offered'),
  ];
});

each(rows, async (_, [, server, bytes, way, outcome, challenges]) => {
  const before = await server().state();
  const reply = await replyTo(server(), bytes, way);
  assert.equal(formatOutcome(reply), outcome);
  assert.deepEqual(listValues(reply, 'WWW-Authenticate'), challenges);
  const refused = reply.status === 401 || reply.status === 403;
  if (refused) assert.equal(reply.field('Cache-Control'), 'no-store');
  assert.match(reply.field('Vary') ?? '', /Authorization, Authentication/);
  const whole = JSON.stringify(reply.fields) + reply.text;
  for (const hidden of [password, ...Object.values(secrets)]) assert.ok(!whole.includes(hidden));
  assert.equal(await server().state(), before);
});
