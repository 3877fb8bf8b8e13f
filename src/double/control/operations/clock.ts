import { either, flag, number, object, optional, text } from '../../../shape/shape.ts';
import { type Controlled, type Operation, operation } from '../operation.ts';

/** The operations of the clock. */
export function clockOperations({ clock, core }: Pick<Controlled, 'clock' | 'core'>): readonly Operation[] {
  const readClock = () => {
    const time = clock.now();
    const { setting, skew } = core.time.snapshot();
    return { time, iso: new Date(time).toISOString(), frozen: 'stands' in setting, skew };
  };
  return [
    operation('GET', '/clock', 'clock', {
      returns: timeShape,
      summary: 'Returns the time of the server’s clock',
      run: readClock,
    }),
    operation('POST', '/clock/advance', 'advanceClock', {
      returns: timeShape,
      summary: 'Advances the clock by a duration',
      accepts: object({ by: duration }),
      run({ by }) {
        clock.advance(by);
        return readClock();
      },
    }),
    operation('POST', '/clock/set', 'setClock', {
      returns: timeShape,
      summary: 'Sets the clock',
      description: 'The clock may be set back. A frozen clock stays frozen.',
      accepts: object({ to: moment }),
      run({ to }) {
        clock.set(to);
        return readClock();
      },
    }),
    operation('POST', '/clock/freeze', 'freezeClock', {
      returns: timeShape,
      summary: 'Freezes the clock, now or at a given time',
      accepts: object({ at: optional(moment) }),
      run({ at }) {
        clock.freeze(at);
        return readClock();
      },
    }),
    operation('POST', '/clock/follow', 'followClock', {
      returns: timeShape,
      summary: 'Makes the clock follow the host’s clock again',
      run() {
        clock.follow();
        return readClock();
      },
    }),
    operation('POST', '/clock/skew', 'skewServerDate', {
      returns: timeShape,
      summary: 'Skews the Date field of responses, without changing the clock',
      description: 'A duration of 0 removes the skew.',
      accepts: object({ by: duration }),
      run({ by }) {
        clock.skewServerDate(by);
        return readClock();
      },
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
