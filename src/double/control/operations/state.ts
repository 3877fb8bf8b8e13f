import { Problem } from '../../../http/problem.ts';
import type { AuthScheme } from '../../../schemes/auth-scheme.ts';
import { createHmacScheme } from '../../../schemes/hmac/scheme.ts';
import { createOAuth1Scheme } from '../../../schemes/oauth1/scheme.ts';
import { basicScheme, bearerScheme } from '../../../schemes/sent-credentials.ts';
import { listDateWindows } from '../../../service/authentication.ts';
import {
  anything,
  either,
  flag,
  listOf,
  mapOf,
  number,
  object,
  optional,
  type ReadBy,
  type Shape,
  text,
} from '../../../shape/shape.ts';
import type { DoubleSnapshot } from '../../state/state.ts';
import { type Controlled, type Operation, operation, requireMemory } from '../operation.ts';

/** The maximum number of snapshots. The oldest is dropped. */
const maxSnapshots = 100;

const signer = object({
  name: text(),
  label: text('the name for people'),
  kind: text('hmac, basic, bearer, oauth1, message-signatures, aws4, api-key, declared or defined'),
  key: text('what signs, beside private keys: a secret, password or token of the user, or a consumer'),
  privateKeys: flag('whether private keys sign'),
  keyIds: flag('whether a key of the user can be chosen by its id'),
  user: flag('whether its credentials name a user'),
  message: flag('whether it signs a message'),
  secure: flag('whether it requires TLS'),
  date: flag('whether its signatures have a date'),
  nonce: flag('whether its signatures have a nonce'),
});

const serverMembers = {
  url: optional(text('origin over plain HTTP')),
  secureUrl: optional(text('origin over HTTPS')),
  certificate: optional(text('certificate in PEM that clients must trust')),
  keeps: text('where data is stored: memory, or data (a data directory)'),
  schemes: listOf(text(), 'the names of the schemes that sign'),
  signers: listOf(signer, 'the schemes with which POST /sign signs'),
};

/** The operations on health, addresses, and the state as a whole. */
export function stateOperations(target: Controlled): readonly Operation[] {
  const { addresses, metrics, core } = target;
  const { memory, options, schemes } = core;
  const snapshots = new Map<string, { readonly state: DoubleSnapshot; readonly time: number }>();
  let taken = 0;
  const named = object({ snapshot: text('name of the snapshot') });
  return [
    operation('GET', '/health', 'health', {
      open: true,
      summary: 'Returns whether the server is ready and its store accepts changes',
      returns: object({ status: text() }),
      errors: {
        503: 'The store accepts no changes or cannot be reached; the detail contains the reason.',
      },
      async run() {
        const { state = 'well', reason = '' } = (await target.health?.()) ?? {};
        if (state === 'well') return { status: 'ready' };
        throw new Problem('store-unavailable', `The store is ${state}: ${reason}`);
      },
    }),
    ...(metrics === undefined
      ? []
      : [
          operation('GET', '/metrics', 'metrics', {
            media: metrics.type,
            returns: text(),
            summary: 'Returns the metrics in the text format of Prometheus',
            run: () => metrics.text(),
          }),
        ]),
    operation('GET', '/server', 'server', {
      summary: 'Returns the addresses of the controlled server, where it stores data, and its schemes',
      returns: object(serverMembers),
      run: () => ({
        ...addresses,
        keeps: memory === undefined ? 'data' : 'memory',
        schemes: Object.keys(listDateWindows(options, schemes)),
        signers: listSigners(core),
      }),
    }),
    operation('POST', '/seed', 'seed', {
      summary: 'Adds items to collections: all, or none if one is invalid',
      accepts: mapOf(
        listOf(anything, 'items as in the configuration under seed'),
        'lists of items by the path of their collection',
      ),
      run: (content) => core.seed(content),
    }),
    operation('POST', '/snapshot', 'snapshot', {
      memoryOnly: true,
      status: 201,
      summary: 'Takes a snapshot of the server’s state',
      description: `The server holds the latest ${maxSnapshots} snapshots.`,
      returns: named,
      run() {
        const state = requireMemory(target).snapshot();
        taken += 1;
        const snapshot = String(taken);
        snapshots.set(snapshot, { state, time: target.clock.now() });
        snapshots.delete(String(taken - maxSnapshots));
        return { snapshot };
      },
    }),
    operation('GET', '/snapshot', 'snapshots', {
      summary: 'Lists the snapshots, oldest first',
      returns: object({
        snapshots: listOf(
          object({
            snapshot: text('name of the snapshot'),
            time: number({ whole: false }, 'time of the server’s clock when it was taken, in ms'),
          }),
        ),
      }),
      run: () => ({ snapshots: [...snapshots].map(([snapshot, { time }]) => ({ snapshot, time })) }),
    }),
    operation('POST', '/restore', 'restore', {
      memoryOnly: true,
      summary: 'Restores a snapshot',
      description: 'A snapshot can be restored any number of times.',
      accepts: named,
      run({ snapshot }) {
        const memory = requireMemory(target);
        const taken = snapshots.get(snapshot);
        if (taken === undefined) throw new RangeError(`there is no snapshot ${JSON.stringify(snapshot)}`);
        memory.restore(taken.state);
      },
    }),
    operation('POST', '/reset', 'reset', {
      memoryOnly: true,
      summary: 'Restores the state in which the server started',
      description: 'Snapshots are kept.',
      run: () => requireMemory(target).reset(),
    }),
  ];
}

/** The operations of the clock. */
export function clockOperations({ clock, core }: Pick<Controlled, 'clock' | 'core'>): readonly Operation[] {
  const readClock = () => {
    const time = clock.now();
    const { setting, skew } = core.time.snapshot();
    return { time, iso: new Date(time).toISOString(), frozen: 'stands' in setting, skew };
  };
  const changing = <Content>(
    verb: string,
    id: string,
    {
      change,
      ...declared
    }: {
      readonly summary: string;
      readonly description?: string;
      readonly accepts: Shape<Content>;
      change(content: Content): void;
    },
  ): Operation =>
    operation('POST', `/clock/${verb}`, id, {
      ...declared,
      returns: timeShape,
      run(content) {
        change(content);
        return readClock();
      },
    });
  return [
    operation('GET', '/clock', 'clock', {
      returns: timeShape,
      summary: 'Returns the time of the server’s clock',
      run: readClock,
    }),
    changing('advance', 'advanceClock', {
      summary: 'Advances the clock by a duration',
      accepts: object({ by: duration }),
      change: ({ by }) => clock.advance(by),
    }),
    changing('set', 'setClock', {
      summary: 'Sets the clock',
      description: 'The clock may be set back. A frozen clock stays frozen.',
      accepts: object({ to: moment }),
      change: ({ to }) => clock.set(to),
    }),
    changing('freeze', 'freezeClock', {
      summary: 'Freezes the clock, now or at a given time',
      accepts: object({ at: optional(moment) }),
      change: ({ at }) => clock.freeze(at),
    }),
    operation('POST', '/clock/follow', 'followClock', {
      returns: timeShape,
      summary: 'Makes the clock follow the host’s clock again',
      run() {
        clock.follow();
        return readClock();
      },
    }),
    changing('skew', 'skewServerDate', {
      summary: 'Skews the Date field of responses, without changing the clock',
      description: 'A duration of 0 removes the skew.',
      accepts: object({ by: duration }),
      change: ({ by }) => clock.skewServerDate(by),
    }),
  ];
}

const timeShape = object({
  time: number({ whole: false }, 'ms since 1970-01-01T00:00:00Z'),
  iso: text('the same time in ISO 8601'),
  frozen: flag('whether the clock stands still'),
  skew: number({ whole: false }, 'ms by which the Date of responses differs from the clock'),
});

const duration = either(number({ whole: false }), text(), 'ms, or a duration such as 90s, 11m or -24h');
const moment = either(
  number({ whole: false }),
  text(),
  'ms since 1970-01-01T00:00:00Z, or a date such as 2026-03-01T12:00:00Z',
);

/** Returns what clients have to know of the schemes: those that need no configuration, and those of the configuration. */
function listSigners({ options, schemes }: Controlled['core']): readonly ReadBy<typeof signer>[] {
  const window = listDateWindows(options, [])['oauth'];
  const plain = [createHmacScheme(), basicScheme, bearerScheme, createOAuth1Scheme({ window })];
  const own = plain.filter(({ name }) => !schemes.some((each) => each.name === name));
  return [...own, ...schemes].map((scheme: AuthScheme) => ({
    name: scheme.name,
    label: scheme.label ?? scheme.name,
    kind: scheme.kind,
    key: scheme.key ?? 'secret',
    privateKeys: scheme.privateKeys !== undefined,
    keyIds: schemes.some(({ name }) => name === scheme.name),
    user: scheme.claimedUser !== undefined && scheme.user === undefined,
    message: scheme.sentSecret === undefined,
    secure: scheme.tlsOnly === true,
    date: scheme.dateWindow > 0,
    // A scheme in code may ignore it.
    nonce: scheme.choices.includes('nonce'),
  }));
}
