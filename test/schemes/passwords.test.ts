import { schemeContracts } from '../support/scheme-contract.ts';
import { subjects } from '../support/schemes/subjects/passwords.ts';

schemeContracts(subjects);
