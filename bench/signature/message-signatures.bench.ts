/** Measures the verification of HTTP Message Signatures, beside the own scheme, a package and bare verifications. */
import type { Benchmark } from '../measure/benchmark.ts';
import { sharedPart } from '../measure/parts/part.ts';
import { timeFigures } from '../measure/timing.ts';
import { messagePeers } from './message-peers.ts';

export const benchmark: Benchmark = {
  title: 'A check of an HTTP Message Signature',
  about:
    'Signature-Input, base, signature, date and nonce of a GET (RFC 9421), which covers method, authority, path and query, or these and three fields. For comparison: the own scheme with a message of the same length, `http-message-signatures`, and a bare `crypto.verify` of the same base for each algorithm; those of P-384 and RSA in the long form.',
  figures: [...timeFigures],
  open(stage) {
    const names = [...messagePeers.keys()].filter((name) => stage.full || !/p384|rsa/.test(name));
    const contestants = names.map((name) => {
      const shared = sharedPart(stage, { file: 'signature/part.ts', words: ['messages', name] });
      return shared({ name, ours: name.startsWith('countersign') }, []);
    });
    return [{ name: '', yardstick: 'the own scheme, with a nonce', contestants }];
  },
};
