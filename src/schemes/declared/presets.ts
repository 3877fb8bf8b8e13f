import type { PresetName } from '../scheme-declarations.ts';
import type { Declaration } from './declaration.ts';

/** Properties of a preset that a declaration cannot set. */
export type PresetExtras = Pick<
  Declaration,
  'anyPort' | 'digestParameter' | 'anyCase' | 'decodedInUrl' | 'queryOrForm' | 'lifetime'
> & {
  /** The element of a list that contains an Ed25519 signature. */
  readonly asymmetric?: string;
};

/** A preset: a declaration without its user. */
export interface Preset {
  readonly declaration: Readonly<Record<string, unknown>>;
  readonly extras?: PresetExtras;
}

/** Returns the scheme of Standard Webhooks with the names of a provider. */
function webhooks(prefix: string): Preset {
  return {
    declaration: {
      message: '{id}.{timestamp}.{body}',
      key: 'base64',
      keyPrefix: 'whsec_',
      encoding: 'base64',
      signature: { field: `${prefix}-signature`, format: 'v1,{signature}' },
      separator: ' ',
      id: { field: `${prefix}-id` },
      timestamp: { field: `${prefix}-timestamp`, unit: 's', window: 300 },
    },
    extras: { asymmetric: 'v1a,{signature}' },
  };
}

/**
 * The schemes of providers, as documented publicly by each:
 *
 * - standard-webhooks: the Standard Webhooks specification, "Signature scheme" and "Webhook headers"
 * - stripe: "Verify webhook signatures manually"; the key is the whole secret, including `whsec_`
 * - github: "Validating webhook deliveries"
 * - slack: "Verifying requests from Slack"
 * - shopify: "Verify webhook deliveries over HTTPS"
 * - twilio: "Webhooks security"; with and without the port, as Twilio's own libraries verify it
 * - zoom: "Verify webhook events"
 * - svix: "Verifying Webhooks Manually", with the names of its own fields
 * - paddle: "Verify webhook signatures"; with the tolerance of its SDKs, 5 s
 * - square: "Validate Square Webhook Event Notifications"
 * - hubspot: "Validating requests", version 3; the documentation lists the escapes of the URI that are decoded
 * - zendesk: "Verifying webhooks"
 * - discord: "Setting Up an Endpoint: Validating Security Request Headers"
 * - sendgrid: "Getting Started with the Event Webhook Security Features"
 * - coinbase: Coinbase Exchange, "REST API Authentication"
 * - binance: Spot REST API, "Request Security"; parameters are in the query, the form, or both
 * - mailgun: "Securing Webhooks"
 * - adyen: "Verify HMAC signatures", of notifications of payments
 *
 * Zendesk, Discord, SendGrid and Mailgun name no tolerance. It is 300 s.
 */
export const presets: Readonly<Record<string, Preset>> = {
  'standard-webhooks': webhooks('webhook'),
  stripe: {
    declaration: {
      message: '{timestamp}.{body}',
      signature: { field: 'Stripe-Signature', format: 't={timestamp},v1={signature}' },
      separator: ',',
      timestamp: { unit: 's', window: 300 },
    },
  },
  github: {
    declaration: {
      message: '{body}',
      signature: { field: 'X-Hub-Signature-256', format: 'sha256={signature}' },
    },
  },
  slack: {
    declaration: {
      message: 'v0:{timestamp}:{body}',
      signature: { field: 'X-Slack-Signature', format: 'v0={signature}' },
      timestamp: { field: 'X-Slack-Request-Timestamp', unit: 's', window: 300 },
    },
  },
  shopify: {
    declaration: {
      message: '{body}',
      encoding: 'base64',
      signature: { field: 'X-Shopify-Hmac-Sha256' },
    },
  },
  twilio: {
    declaration: {
      message: '{url}{form-sorted}',
      hash: 'sha1',
      encoding: 'base64',
      signature: { field: 'X-Twilio-Signature' },
    },
    extras: { anyPort: true, digestParameter: 'bodySHA256' },
  },
  zoom: {
    declaration: {
      message: 'v0:{timestamp}:{body}',
      signature: { field: 'x-zm-signature', format: 'v0={signature}' },
      timestamp: { field: 'x-zm-request-timestamp', unit: 's', window: 300 },
    },
  },
  svix: webhooks('svix'),
  paddle: {
    declaration: {
      message: '{timestamp}:{body}',
      signature: { field: 'Paddle-Signature', format: 'ts={timestamp};h1={signature}' },
      separator: ';',
      timestamp: { unit: 's', window: 5 },
    },
  },
  square: {
    declaration: {
      message: '{url}{body}',
      encoding: 'base64',
      signature: { field: 'x-square-hmacsha256-signature' },
    },
  },
  hubspot: {
    declaration: {
      message: '{method}{url}{body}{timestamp}',
      encoding: 'base64',
      signature: { field: 'X-HubSpot-Signature-v3' },
      timestamp: { field: 'X-HubSpot-Request-Timestamp', unit: 'ms', window: 300 },
    },
    extras: { decodedInUrl: ":/?@!$'()*,;" },
  },
  zendesk: {
    declaration: {
      message: '{timestamp}{body}',
      encoding: 'base64',
      signature: { field: 'X-Zendesk-Webhook-Signature' },
      timestamp: { field: 'X-Zendesk-Webhook-Signature-Timestamp', unit: 'rfc3339', window: 300 },
    },
  },
  discord: {
    declaration: {
      message: '{timestamp}{body}',
      algorithm: 'ed25519',
      signature: { field: 'X-Signature-Ed25519' },
      timestamp: { field: 'X-Signature-Timestamp', unit: 's', window: 300 },
    },
  },
  sendgrid: {
    declaration: {
      message: '{timestamp}{body}',
      algorithm: 'ecdsa-p256',
      encoding: 'base64',
      signature: { field: 'X-Twilio-Email-Event-Webhook-Signature' },
      timestamp: { field: 'X-Twilio-Email-Event-Webhook-Timestamp', unit: 's', window: 300 },
    },
  },
  coinbase: {
    declaration: {
      message: '{timestamp}{method}{target}{body}',
      key: 'base64',
      encoding: 'base64',
      signature: { field: 'CB-ACCESS-SIGN' },
      user: { field: 'CB-ACCESS-KEY' },
      passphrase: { field: 'CB-ACCESS-PASSPHRASE' },
      timestamp: { field: 'CB-ACCESS-TIMESTAMP', unit: 'fractional-s', window: 30 },
    },
  },
  binance: {
    declaration: {
      message: '{query}{body}',
      signature: { query: 'signature' },
      user: { field: 'X-MBX-APIKEY' },
      // Less than a second in the future, and recvWindow in the past.
      timestamp: { query: 'timestamp', unit: 'ms', window: 0.999 },
    },
    extras: {
      anyCase: true,
      queryOrForm: true,
      lifetime: { parameter: 'recvWindow', usual: 5000, longest: 60_000 },
    },
  },
  mailgun: {
    declaration: {
      message: '{timestamp}{nonce}',
      signature: { json: '/signature/signature' },
      timestamp: { json: '/signature/timestamp', unit: 's', window: 300 },
      nonce: { json: '/signature/token' },
    },
  },
  adyen: {
    declaration: {
      message: [
        'pspReference',
        'originalReference',
        'merchantAccountCode',
        'merchantReference',
        'amount/value',
        'amount/currency',
        'eventCode',
        'success',
      ]
        .map((member) => `{json:/notificationItems/0/NotificationRequestItem/${member}}`)
        .join(':'),
      key: 'hex',
      encoding: 'base64',
      signature: { json: '/notificationItems/0/NotificationRequestItem/additionalData/hmacSignature' },
    },
  },
};

/** Returns whether there is a preset of this name. */
export function isPreset(name: string): name is PresetName {
  return Object.hasOwn(presets, name);
}
