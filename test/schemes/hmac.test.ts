import { schemeContracts } from '../support/scheme-contract.ts';
import { subjects } from '../support/schemes/subjects/hmac.ts';

schemeContracts(subjects);
