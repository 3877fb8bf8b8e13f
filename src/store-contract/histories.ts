import type { Store } from '../store/store.ts';
import type { Session } from './check.ts';
import { storeCheck } from './check.ts';
import { Model } from './model.ts';

const rounds = 150;

/** The check of random sequences of changes. */
export const historyChecks = [
  storeCheck('random changes have the same results as in a plain model', async (first, session) => {
    const { random } = session;
    const model = new Model();
    let store = first;
    for (let round = 0; round < rounds; round += 1) {
      const where = `seed ${random.seed}, round ${round}`;
      await makeSome(store, model, session, where);
      if (random.below(10) === 0) store = await session.restart();
      if (round % 5 === 0) await model.compare(store, where);
    }
    await model.compare(await session.restart(), `seed ${random.seed}, at the end`);
  }),
];

/** Makes some creations in turn, because their order decides their ids, and then some other changes at once. */
async function makeSome(
  store: Store,
  model: Model,
  { random }: Session<Store>,
  where: string,
): Promise<void> {
  const changes = model.draw(random);
  for (const change of changes.filter(({ kind }) => kind === 'create'))
    model.check(change, await store.apply(change), where);
  const others = changes.filter(({ kind }) => kind !== 'create');
  const results = await Promise.all(others.map((change) => store.apply(change)));
  for (const [index, change] of others.entries()) model.check(change, results[index], where);
}
