import { bareOperation, type Operation, operation } from '../operation.ts';
import { either, number, object, optional, text } from '../shape.ts';
import type { ControlTarget } from '../target.ts';

/** The operations of the clock. */
export function clockOperations({ clock }: Pick<ControlTarget, 'clock'>): readonly Operation[] {
  const shown = () => {
    const time = clock.now();
    return { time, iso: new Date(time).toISOString() };
  };
  const change = { method: 'POST', gives: timeShape.schema } as const;
  return [
    bareOperation({
      ...{ method: 'GET', path: '/clock', id: 'clock', gives: timeShape.schema },
      summary: 'The time that the server goes by',
      answer: shown,
    }),
    operation({
      ...{ ...change, path: '/clock/advance', id: 'advanceClock' },
      summary: 'Lets time pass at once',
      takes: object({ by: duration }),
      answer({ by }) {
        clock.advance(by);
        return shown();
      },
    }),
    operation({
      ...{ ...change, path: '/clock/set', id: 'setClock' },
      summary: 'Sets the clock, back or forth; it goes on from there, or stands where it is frozen',
      takes: object({ to: moment }),
      answer({ to }) {
        clock.set(to);
        return shown();
      },
    }),
    operation({
      ...{ ...change, path: '/clock/freeze', id: 'freezeClock' },
      summary: 'Stops the clock where it is, or at a moment',
      takes: object({ at: optional(moment) }),
      answer({ at }) {
        clock.freeze(at);
        return shown();
      },
    }),
    bareOperation({
      ...{ ...change, path: '/clock/follow', id: 'followClock' },
      summary: 'Lets the clock be that of the host again',
      answer() {
        clock.follow();
        return shown();
      },
    }),
    operation({
      ...{ ...change, path: '/clock/skew', id: 'skewServerDate' },
      summary: 'Moves only what the server says the time is, the field Date; 0 puts it right again',
      takes: object({ by: duration }),
      answer({ by }) {
        clock.skewServerDate(by);
        return shown();
      },
    }),
  ];
}

const timeShape = object({
  time: number({ whole: false }, 'ms since 1970-01-01T00:00:00Z'),
  iso: text('the same as a date of ISO 8601'),
});

const duration = either(number({ whole: false }), text(), 'ms, or a length such as 90s, 11m, -24h');
const moment = either(
  number({ whole: false }),
  text(),
  'ms since 1970, or a date such as 2026-03-01T12:00:00Z',
);
