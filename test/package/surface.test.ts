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
      action json xml text readBytes readJson retryAction
      CountersignError DeclarationError ListenError TlsError StoreError`,
    types: `
      Service ServiceOptions ListenOptions Listener TlsIdentity Clock ManualClock
      Fetch FetchInit AccessLogEntry OpenApiDocument
      ServerModule ServerModuleFactory ServerModuleOptions
      CollectionDeclaration Collection FieldDeclaration AccessRules Access CorsDeclaration
      UserDeclaration KeyDeclaration ClientDeclaration ConsumerDeclaration QuotaDeclaration
      SchemeDeclaration HmacDeclaration PresetDeclaration ApiKeyDeclaration Aws4Declaration MessageSignaturesDeclaration
      OAuth1Method SchemeDeclarations SchemeDefinition Scheme SchemeCredentials SignedParts SignatureAlgorithm
      Resource Action Call ActionResult ActionResponse Representation Variant ContentReader ResourceState
      Principal Scope ProblemType ProblemOptions HttpRequest HttpHeaders HttpMethod
      Store DurableStore DurableStoreOptions StoreChange StoreResult
      StoredItem StoredPage StoredRecord StoredValue StoredReceipt TransferPart
      NonceStore NonceResult DocumentStore StoredDocument
      Duration DateLike HeadersInput RequestInput MaybePromise`,
  },
  'double/index': {
    values: 'startDouble withDouble assertAccepted assertRefused explainSignature DoubleError',
    types: `
      Double DoubleOptions DoubleSnapshot DoubleClock DoubleAuth SigningClient AsOptions
      DoubleEventMap TokenEvent Subscription
      RequestMatch MatchedRequest RuleHandle DoubleFaults Fault
      Stub StubOptions StubResponse StubRequest DoublePartner PartnerCoverage PartnerOptions
      DoubleJournal EntryMatch JournalEntry JournalRequest JournalResponse JournalAuth JournalCors RefusalMatch
      ComparedPart SignedTextComparison
      DoubleOAuth2 DoubleOAuth1 IssueTokenOptions IssuedToken IssuedOAuth1Token TokenFilter
      UserCredentials KeyPair ControlServer ControlOptions`,
  },
  'double/matchers/index': { values: 'toBeAccepted toBeRefused', types: 'CountersignMatchers' },
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
  'store/contract/index': { values: 'storeContract nonceContract', types: 'ContractCheck ContractOptions' },
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
  test(`${entry} exports exactly the listed names`, () => {
    const loaded: unknown = require(join(dist, `${entry}.js`));
    assert.ok(typeof loaded === 'object' && loaded !== null);
    assert.deepEqual(Object.keys(loaded).sort(), namesIn(values).sort());
    assert.deepEqual(readExported(entry, 'values').sort(), namesIn(values).sort());
    assert.deepEqual(readExported(entry, 'types').sort(), namesIn(types).sort());
  });
}

/** The members that need no description: the name of errors, private members, and symbols that mark opaque types. */
function needsNoDescription(name: string, owner: string): boolean {
  return (name === 'name' && /(?:Error|Problem)$/.test(owner)) || /^#private$|^__@/.test(name);
}

/** Returns what an editor shows of the comment of a symbol. */
function readHoverText(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim();
}

test('every exported name and every member has a description, which editors show', () => {
  const paths = Object.keys(surface).map((entry) => join(dist, `${entry}.d.ts`));
  const program = ts.createProgram(paths, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts'],
    types: ['node'],
  });
  const checker = program.getTypeChecker();
  const described = new Set<string>();
  const undescribed = new Set<string>();
  const visited = new Set<ts.Type>();
  const describe = (symbol: ts.Symbol, name: string): void => {
    (readHoverText(symbol, checker) === '' ? undescribed : described).add(name);
  };
  /** Visits the members of a type, and those of the types of its members. */
  const visit = (type: ts.Type, owner: string): void => {
    if (visited.has(type)) return;
    visited.add(type);
    if (type.isUnion()) {
      for (const each of type.types) visit(each, owner);
      return;
    }
    if (!type.isIntersection() && (type.flags & ts.TypeFlags.Object) === 0) return;
    for (const member of type.getProperties()) {
      const declaration = member.valueDeclaration ?? member.declarations?.[0];
      if (declaration === undefined || !declaration.getSourceFile().fileName.startsWith(dist)) continue;
      if (needsNoDescription(member.name, owner)) continue;
      describe(member, `${owner}.${member.name}`);
      visit(checker.getTypeOfSymbolAtLocation(member, declaration), `${owner}.${member.name}`);
    }
  };
  for (const path of paths) {
    const source = program.getSourceFile(path);
    const entry = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    assert.ok(entry !== undefined, path);
    for (const exported of checker.getExportsOfModule(entry)) {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
      describe(symbol, exported.name);
      if ((symbol.flags & ts.SymbolFlags.Type) !== 0)
        visit(checker.getDeclaredTypeOfSymbol(symbol), exported.name);
    }
  }
  assert.ok(described.size > 900, String(described.size));
  assert.deepEqual([...undescribed], []);
});

test('the types Collection and Scheme are opaque', () => {
  const path = join(dist, 'index.d.ts');
  const { statements } = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  for (const name of ['Collection', 'Scheme']) {
    const declared = statements.find(
      (each): each is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(each) && each.name.text === name,
    );
    assert.deepEqual(
      declared?.members.map((member) => member.name?.kind),
      [ts.SyntaxKind.ComputedPropertyName],
      name,
    );
  }
});

test('each name is exported from exactly one entry', () => {
  const names = Object.values(surface).flatMap(({ values, types }) => [
    ...namesIn(values),
    ...namesIn(types),
  ]);
  assert.equal(names.length, 189);
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});

test('every exported error class extends CountersignError', () => {
  const { CountersignError } = require(join(dist, 'index.js'));
  const classes = Object.entries(surface).flatMap(([entry, { values }]) =>
    namesIn(values)
      .filter((name) => name.endsWith('Error') && name !== 'CountersignError')
      .map((name) => ({ name, declared: require(join(dist, `${entry}.js`))[name] })),
  );
  assert.ok(classes.length >= 7);
  for (const { name, declared } of classes) {
    assert.ok(declared.prototype instanceof CountersignError, name);
    assert.ok(declared.prototype instanceof Error, name);
  }
});
