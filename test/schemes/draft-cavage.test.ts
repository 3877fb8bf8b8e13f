import { schemeContracts } from '../support/scheme-contract.ts';
import { subjects } from '../support/schemes/subjects/draft-cavage.ts';

schemeContracts(subjects);
