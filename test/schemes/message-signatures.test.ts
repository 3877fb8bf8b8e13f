import { schemeContracts } from '../support/scheme-contract.ts';
import { subjects } from '../support/schemes/subjects/message-signatures.ts';

schemeContracts(subjects);
