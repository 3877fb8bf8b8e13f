export type { TokenEvent } from '../oauth/records.ts';
export type { JournalCors } from '../pipeline/cors.ts';
export type {
  DoubleOAuth1,
  DoubleOAuth2,
  IssuedOAuth1Token,
  IssuedToken,
  IssueTokenOptions,
} from './auth/oauth.ts';
export type { TokenFilter } from './auth/tokens.ts';
export type { ControlOptions, ControlServer } from './control/control.ts';
export { type Double, startDouble } from './double.ts';
export { DoubleError } from './error.ts';
export type { DoubleEventMap, Subscription } from './events.ts';
export type { Fault } from './faults/declaration.ts';
export type { DoubleFaults } from './faults/faults.ts';
export type { AsOptions } from './fetch/as-options.ts';
export type { SigningClient } from './fetch/signed-client.ts';
export { assertAccepted, assertRefused } from './journal/assertions.ts';
export type { JournalAuth, JournalEntry, JournalRequest, JournalResponse } from './journal/entry.ts';
export type { DoubleJournal } from './journal/journal.ts';
export type { EntryMatch } from './journal/match.ts';
export { type ComparedPart, explainSignature, type SignedTextComparison } from './journal/signed-text.ts';
export type { RefusalMatch } from './journal/verdict.ts';
export type { MatchedRequest, RequestMatch } from './match.ts';
export type { DoubleOptions } from './options.ts';
export type { PartnerCoverage } from './partner/coverage.ts';
export type { DoublePartner } from './partner/partner.ts';
export type { PartnerOptions } from './partner/validation.ts';
export type { RuleHandle } from './rules.ts';
export type { DoubleClock } from './state/clock.ts';
export type { DoubleSnapshot } from './state/state.ts';
export type { DoubleAuth, KeyPair, UserCredentials } from './state/users.ts';
export type { Stub, StubOptions, StubRequest } from './stubs/declaration.ts';
export type { StubResponse } from './stubs/response.ts';
export { withDouble } from './with-double.ts';
