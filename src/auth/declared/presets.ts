/** Properties of a preset that a declaration cannot set. */
export interface PresetExtras {
  /** The element of a list that contains an Ed25519 signature. */
  readonly asymmetric?: string;
  readonly anyPort?: boolean;
  readonly digestParameter?: string;
}

/** A preset: a declaration without its user. */
export interface Preset {
  readonly declaration: Readonly<Record<string, unknown>>;
  readonly extras?: PresetExtras;
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
 */
export const presets: Readonly<Record<string, Preset>> = {
  'standard-webhooks': {
    declaration: {
      message: '{id}.{timestamp}.{body}',
      key: 'base64',
      keyPrefix: 'whsec_',
      encoding: 'base64',
      signature: { field: 'webhook-signature', format: 'v1,{signature}' },
      separator: ' ',
      id: { field: 'webhook-id' },
      timestamp: { field: 'webhook-timestamp', unit: 's', window: 300 },
    },
    extras: { asymmetric: 'v1a,{signature}' },
  },
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
};
