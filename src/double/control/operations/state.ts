import { Problem } from '../../../http/problem.ts';
import { AllowMatrixError } from '../../permission-matrix.ts';
import type { DoubleSnapshot } from '../../state/state.ts';
import { bareOperation, type Operation, operation } from '../operation.ts';
import { anything, listOf, mapOf, object, optional, text } from '../shape.ts';
import { type ControlTarget, inMemory } from '../target.ts';

/** Snapshots that are kept at most; the oldest goes when there are more. */
const mostSnapshots = 100;

/** The operations on readiness, addresses, and the state as a whole. */
export function stateOperations(target: ControlTarget): readonly Operation[] {
  return [
    health(target),
    server(target),
    seed(target),
    ...snapshots(target),
    reset(target),
    allowMatrix(target),
  ];
}

function health(target: ControlTarget): Operation {
  return bareOperation({
    ...{ method: 'GET', path: '/health', id: 'health', open: true },
    summary: 'Whether the server is ready, and its store takes changes',
    gives: object({ status: text() }).schema,
    refuses: { 503: 'The store takes no changes for now, or for good; the detail says why.' },
    answer() {
      const { state = 'well', reason = '' } = target.health?.() ?? {};
      if (state === 'well') return { status: 'ready' };
      throw new Problem('store-unavailable', `The store is ${state}: ${reason}`);
    },
  });
}

function server({ place, memory }: ControlTarget): Operation {
  const members = {
    url: optional(text('plain HTTP')),
    secureUrl: optional(text('HTTPS')),
    certificate: optional(text('what to trust for it, in PEM')),
    keeps: text('memory, or data'),
  };
  return bareOperation({
    ...{ method: 'GET', path: '/server', id: 'server' },
    summary: 'Where the server listens that is steered, and where it keeps what it holds',
    gives: object(members).schema,
    answer: () => ({ ...place, keeps: memory === undefined ? 'data' : 'memory' }),
  });
}

function seed(target: ControlTarget): Operation {
  return operation({
    ...{ method: 'POST', path: '/seed', id: 'seed', memoryOnly: true },
    summary: 'Adds items to collections, all or none',
    takes: mapOf(
      listOf(anything, 'items as a configuration has them'),
      'lists by the path of their collection',
    ),
    answer: (content) => inMemory(target).seed(content),
  });
}

function snapshots(target: ControlTarget): readonly Operation[] {
  const kept = new Map<string, DoubleSnapshot>();
  let taken = 0;
  const named = object({ snapshot: text('its name') });
  return [
    bareOperation({
      ...{ method: 'POST', path: '/snapshot', id: 'snapshot', memoryOnly: true, status: 201 },
      summary: 'Takes down all that the server holds now',
      description: `The latest ${mostSnapshots} are kept.`,
      gives: named.schema,
      answer() {
        const held = inMemory(target).snapshot();
        taken += 1;
        const snapshot = String(taken);
        kept.set(snapshot, held);
        kept.delete(String(taken - mostSnapshots));
        return { snapshot };
      },
    }),
    operation({
      ...{ method: 'POST', path: '/restore', id: 'restore', memoryOnly: true },
      summary: 'Puts back what a snapshot holds, any number of times',
      takes: named,
      answer({ snapshot }) {
        const memory = inMemory(target);
        const held = kept.get(snapshot);
        if (held === undefined) throw new RangeError(`there is no snapshot ${JSON.stringify(snapshot)}`);
        memory.restore(held);
      },
    }),
  ];
}

function reset(target: ControlTarget): Operation {
  return bareOperation({
    ...{ method: 'POST', path: '/reset', id: 'reset', memoryOnly: true },
    summary: 'Puts everything back as it was when the server had started',
    description: 'Snapshots stay.',
    answer: () => inMemory(target).reset(),
  });
}

const matrixSchema = {
  type: 'object',
  required: ['rows', 'differences', 'text'],
  properties: {
    rows: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'as', 'allow', 'tried', 'may'],
        properties: {
          path: { type: 'string' },
          as: { type: 'string' },
          allow: { type: 'array', items: { type: 'string' }, description: 'what Allow says' },
          tried: {
            type: 'object',
            additionalProperties: { type: 'integer' },
            description: 'the status of each method',
          },
          may: { type: 'array', items: { type: 'string' }, description: 'what was not refused' },
        },
      },
    },
    differences: {
      type: 'array',
      items: { type: 'string' },
      description: 'where the two differ; empty where all is right',
    },
    text: { type: 'string', description: 'the same as a table to be printed' },
  },
};

function allowMatrix(target: ControlTarget): Operation {
  return operation({
    ...{ method: 'POST', path: '/allow-matrix', id: 'allowMatrix', memoryOnly: true },
    summary: 'What Allow says, and what becomes of each of the six methods when it is tried',
    description: 'Everything is put back as it was. May is what is not answered 401, 403, 405 or 501.',
    takes: object({
      as: listOf(text(), 'users by their names, and nobody'),
      paths: optional(listOf(text(), 'paths or templates; all when left out')),
    }),
    gives: matrixSchema,
    async answer(wanted) {
      const matrix = await inMemory(target)
        .allowMatrix(wanted)
        .catch((error: unknown) => {
          if (error instanceof AllowMatrixError) return error.matrix;
          throw error;
        });
      return { rows: matrix.rows, differences: matrix.differences, text: String(matrix) };
    },
  });
}
