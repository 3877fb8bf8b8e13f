import { type SchemeSubject, secrets, usual } from '../../scheme-contract.ts';
import { declaredSigner } from '../declared.ts';
import { ofStandardWebhooks, ofStripe } from '../own-mistakes.ts';
import { withField } from '../signer.ts';
import { webhook } from '../webhooks.ts';

const later = (text: string): string =>
  text.replace(/(\d{9})(\d)/, (_, all, last) => `${all}${(Number(last) + 1) % 10}`);
const secretKey = `whsec_${Buffer.from(secrets.ann).toString('base64')}`;
const otherKey = `whsec_${Buffer.from(secrets.bob).toString('base64')}`;

export const stripe = webhook(
  'stripe',
  {
    message: ['time', '"."', 'content'],
    signature: { field: 'Stripe-Signature' },
    format: (signature, time) => `t=${time},v1=${signature}`,
  },
  { field: 'Stripe-Signature', changed: later },
);

const github = webhook('github', {
  message: ['content'],
  signature: { field: 'X-Hub-Signature-256' },
  format: (signature) => `sha256=${signature}`,
});

const slack = webhook(
  'slack',
  {
    message: ['"v0:"', 'time', '":"', 'content'],
    signature: { field: 'X-Slack-Signature' },
    format: (signature) => `v0=${signature}`,
    timeField: 'X-Slack-Request-Timestamp',
  },
  { field: 'X-Slack-Request-Timestamp', changed: later },
);

const plainHook = webhook(
  'standard-webhooks',
  {
    message: ['nonce', '"."', 'time', '"."', 'content'],
    readKey: (secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
    encoding: 'base64',
    signature: { field: 'webhook-signature' },
    format: (signature) => `v1,${signature}`,
    timeField: 'webhook-timestamp',
    nonceField: 'webhook-id',
  },
  { field: 'webhook-timestamp', changed: later },
);
const standard = {
  ...plainHook,
  options: { ...plainHook.options, users: { ann: { secret: secretKey }, bob: { secret: otherKey } } },
  identities: { ann: { user: 'ann', secret: secretKey }, bob: { user: 'bob', secret: otherKey } },
  rotate: (double: Parameters<NonNullable<(typeof plainHook)['rotate']>>[0]) => ({
    user: 'ann',
    secret: double.auth.rotateSecret('ann', {
      grace: '1h',
      secret: `whsec_${Buffer.alloc(32, 9).toString('base64')}`,
    }),
  }),
};

const form = {
  ...usual,
  method: 'POST',
  secure: true,
  lines: [['Content-Type', 'application/x-www-form-urlencoded']],
  content: 'To=b&Body=Tea+and+more',
} as const;
const hook = webhook('github', { message: [], signature: { field: 'X-Twilio-Signature' } });
const twilio = {
  ...hook,
  scheme: 'twilio',
  options: { ...hook.options, https: true, schemes: { twilio: { preset: 'twilio', user: 'ann' } } },
  signer: () =>
    declaredSigner({
      message: ['url', 'form'],
      hash: 'sha1',
      encoding: 'base64',
      signature: { field: 'X-Twilio-Signature' },
    }),
  request: form,
  write: form,
  parts: {
    ...hook.parts,
    method: { unsigned: 'Twilio signs the URL and the form' },
    path: 'signed',
    query: 'signed',
    host: 'signed',
  },
  without: { ...hook.without, 'changed item': 'only the content of forms is signed' },
} as const;

const [hex, base64] = ['0'.repeat(64), Buffer.alloc(32).toString('base64')];
/** The subjects of the contract, by name. */
export const subjects: Readonly<Record<string, SchemeSubject>> = {
  Stripe: {
    ...stripe,
    own: ofStripe,
    withOthers: (sent, count) =>
      withField(sent, 'Stripe-Signature', (text) => text.replace('v1=', `${`v1=${hex},`.repeat(count)}v1=`)),
  },
  GitHub: github,
  Slack: slack,
  'Standard Webhooks': {
    ...standard,
    own: ofStandardWebhooks,
    withOthers: (sent, count) =>
      withField(sent, 'webhook-signature', (text) => `${`v1,${base64} `.repeat(count)}${text}`),
  },
  Twilio: twilio,
};
