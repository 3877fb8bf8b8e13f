import { schemeContracts } from '../support/scheme-contract.ts';
import { subjects } from '../support/schemes/subjects/aws4.ts';

schemeContracts(subjects);
