// The test values of draft-cavage-http-signatures-12, appendix C. Their key has 1024 bits, so no user can have it.
import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import { createRequest } from '../../../src/http/message.ts';
import { joinParts, readCredentials, readParts } from '../../../src/schemes/defined/message.ts';
import { createSchemeRequest } from '../../../src/schemes/defined/request.ts';
import { readDraftCavage } from '../../../src/schemes/draft-cavage/scheme.ts';
import { messageBytes } from '../../../src/schemes/message.ts';

const publicKey = createPublicKey(`-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDCFENGw33yGihy92pDjZQhl0C3
6rPJj+CvfSC8+q28hxA161QFNUd13wuCTUcq0Qd2qsBe/2hFyc2DCJJg0h1L78+6
Z4UMR7EOcpfdUE9Hf3m/hs+FUR45uBJeDK1HSFHD8bHKD6kv8FPGfJTotc+2xjJw
oYi+1hqp1fIekaxsyQIDAQAB
-----END PUBLIC KEY-----`);

const vectors: Readonly<Record<string, readonly [headers: string, signature: string]>> = {
  'C.1, the default': [
    '',
    'SjWJWbWN7i0wzBvtPl8rbASWz5xQW6mcJmn+ibttBqtifLN7Sazz6m79cNfwwb8DMJ5cou1s7uEGKKCs+FLEEaDV5lp7q25WqS+lavg7T8hc0GppauB6hbgEKTwblDHYGEtbGmtdHgVCk9SuS13F0hZ8FD0k/5OxEPXe5WozsbM=',
  ],
  'C.2, the basic test': [
    'headers="(request-target) host date",',
    'qdx+H7PHHDZgy4y/Ahn9Tny9V3GP6YgBPyUXMmoxWtLbHpUnXS2mg2+SbrQDMCJypxBLSPQR2aAjn7ndmw2iicw3HMbe8VfEdKFYRqzic+efkb3nndiv/x1xSHDJWeSWkx3ButlYSuBskLu6kd9Fswtemr3lgdDEmn04swr2Os0=',
  ],
  'C.3, all headers': [
    'headers="(request-target) host date content-type digest content-length",',
    'vSdrb+dS3EceC9bcwHSo4MlyKS59iFIrhgYkz8+oVLEEzmYZZvRs8rgOp+63LEM3v+MFHB32NfpB2bEKBIvB1q52LaEUHFv120V01IL+TAD48XaERZFukWgHoBTLMhYS2Gb51gWxpeIq8knRmPnYePbF5MOkR0Zkly4zKH7s1dE=',
  ],
};

for (const [name, [headers, signature]] of Object.entries(vectors))
  test(`the signature of appendix ${name} is valid`, () => {
    // The requirements are checked elsewhere.
    const definition = readDraftCavage({ headers: [] }, 'schemes.draft-cavage');
    const fields = [
      ['Host', 'example.com'],
      ['Date', 'Sun, 05 Jan 2014 21:31:40 GMT'],
      ['Content-Type', 'application/json'],
      ['Content-Length', '18'],
      ['Digest', 'SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE='],
      ['Authorization', `Signature keyId="Test",algorithm="rsa-sha256",${headers}signature="${signature}"`],
    ] as const;
    const source = createRequest({ method: 'POST', target: '/foo?param=value&pet=dog', headers: fields });
    const request = createSchemeRequest(source, () => Buffer.alloc(0));
    const credentials = readCredentials(definition.parse(request), definition, false);
    assert.ok('user' in credentials);
    assert.equal(credentials.user, 'Test');
    assert.equal(credentials.date, Date.UTC(2014, 0, 5, 21, 31, 40));
    const parts = readParts(definition.message(request, credentials), definition.join);
    const message = messageBytes(joinParts(parts, definition));
    assert.equal(
      definition.verify?.(message, publicKey, credentials.signature, { kind: 'rsa-v1_5-sha256' }),
      true,
    );
    message.writeUInt8(message.readUInt8(0) ^ 1, 0);
    assert.equal(
      definition.verify?.(message, publicKey, credentials.signature, { kind: 'rsa-v1_5-sha256' }),
      false,
    );
  });
