import { schemeContracts } from '../support/scheme-contract.ts';
import { subjects } from '../support/schemes/subjects/oauth1.ts';

schemeContracts(subjects);
