import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';

const dist = join(import.meta.dirname, '../..', 'dist/cjs');
const require = createRequire(import.meta.url);

/** The names that an entry exports. */
interface Names {
  readonly values: string;
  readonly types: string;
}

/** The names of each entry. A name that several entries need is exported from one of them. */
const surface: Readonly<Record<string, Names>> = {
  index: {
    values: `
      createService defineCollection defineScheme openDurableStore createMemoryStore createManualClock Problem
      action json xml text readBytes retryAction
      CountersignError DeclarationError ListenError TlsError StoreError NonceRefusedError`,
    types: `
      Service ServiceOptions ListenOptions Listener TlsIdentity Clock ManualClock
      Fetch FetchInit AccessLogEntry OpenApiDocument
      ServerModule ServerModuleFactory ServerModuleOptions
      CollectionDeclaration Collection FieldDeclaration AccessRules Access CorsDeclaration
      UserDeclaration KeyDeclaration ClientDeclaration ConsumerDeclaration QuotaDeclaration
      SchemeDeclaration HmacDeclaration PresetDeclaration ApiKeyDeclaration Aws4Declaration MessageSignaturesDeclaration
      SchemeDeclarations SchemeDefinition Scheme SchemeCredentials SignedParts SignatureAlgorithm
      Resource Action Call ActionResult ActionResponse Representation Variant ContentReader ResourceState
      Principal Scope ProblemType ProblemOptions HttpRequest HttpHeaders HttpMethod
      Store DurableStore DurableStoreOptions StoreChange StoreResult
      StoredItem StoredPage StoredRecord StoredValue StoredReceipt TransferPart
      NonceStore NonceResult NonceClaim DocumentStore StoredDocument
      Duration DateLike HeadersInput RequestInput MaybePromise`,
  },
  'double/index': {
    values: 'startDouble assertAccepted assertRefused DoubleError',
    types: `
      Double DoubleOptions DoubleSnapshot DoubleClock DoubleAuth SigningClient AsOptions
      DoubleEventMap TokenEvent Subscription
      RequestMatch MatchedRequest RuleHandle DoubleFaults Fault EndpointFailure
      Stub StubOptions StubResponse StubRequest DoublePartner PartnerCoverage
      DoubleJournal EntryMatch JournalEntry JournalRequest JournalResponse JournalAuth JournalCors RefusalMatch
      DoubleOAuth2 DoubleOAuth1 IssueTokenOptions IssuedToken IssuedOAuth1Token TokenFilter
      UserCredentials KeyPair AccessMatrix AccessMatrixOptions ControlServer ControlOptions`,
  },
  'matchers/index': { values: 'toBeAccepted toBeRefused', types: 'CountersignMatchers' },
  'client/index': {
    values: 'signRequest signUrl signedFetch',
    types: 'SignRequestOptions SignedFetchInit SignedRequest Credentials SigningScheme',
  },
  'attack/index': {
    values: 'createAttempts attack attackOAuth2 attackOAuth1 createSigner',
    types: `
      Signer SigningChanges AttemptOptions AttackOptions Attempt AttackRequest AttackTarget AttackReport AttackResult
      AttackOAuth2Options AttackOAuth1Options`,
  },
  'xml/index': {
    values: 'createParser createWriter copyString XmlError XmlWriteError',
    types: 'XmlParser XmlHandler XmlParserOptions XmlWriter',
  },
  'store-contract/index': { values: 'storeContract nonceContract', types: 'ContractCheck ContractOptions' },
  'postgres/index': {
    values: 'openPostgresStore',
    types: 'PostgresStore PostgresStoreOptions PostgresClient',
  },
  'redis/index': {
    values: 'createRedisNonceStore initializeRedisNonceStore',
    types: 'RedisClient RedisNonceStoreOptions',
  },
};

function namesIn(list: string): string[] {
  return list.split(/\s+/).filter((name) => name !== '');
}

/** Returns the names that the declarations of an entry export as values, or as types only. */
function readExported(entry: string, kind: 'values' | 'types'): string[] {
  const path = join(dist, `${entry}.d.ts`);
  const { statements } = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  return statements.flatMap((statement) => {
    if (!ts.isExportDeclaration(statement) || statement.isTypeOnly !== (kind === 'types')) return [];
    const { exportClause } = statement;
    return exportClause !== undefined && ts.isNamedExports(exportClause)
      ? exportClause.elements.map(({ name }) => name.text)
      : [];
  });
}

for (const [entry, { values, types }] of Object.entries(surface)) {
  test(`${entry} exports exactly the names of its list`, () => {
    const loaded: unknown = require(join(dist, `${entry}.js`));
    assert.ok(typeof loaded === 'object' && loaded !== null);
    assert.deepEqual(Object.keys(loaded).sort(), namesIn(values).sort());
    assert.deepEqual(readExported(entry, 'values').sort(), namesIn(values).sort());
    assert.deepEqual(readExported(entry, 'types').sort(), namesIn(types).sort());
  });
}

test('each name is exported from exactly one entry', () => {
  const names = Object.values(surface).flatMap(({ values, types }) => [
    ...namesIn(values),
    ...namesIn(types),
  ]);
  assert.equal(names.length, 187);
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});

test('every error is exported, and is a CountersignError with a code', () => {
  const { CountersignError } = require(join(dist, 'index.js'));
  const classes = Object.entries(surface).flatMap(([entry, { values }]) =>
    namesIn(values)
      .filter((name) => name.endsWith('Error') && name !== 'CountersignError')
      .map((name) => ({ name, declared: require(join(dist, `${entry}.js`))[name] })),
  );
  assert.ok(classes.length >= 8);
  for (const { name, declared } of classes) {
    assert.ok(declared.prototype instanceof CountersignError, name);
    assert.ok(declared.prototype instanceof Error, name);
  }
});
