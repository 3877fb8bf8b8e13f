import { sampledContracts } from '../support/scheme-contract.ts';
import { subjects } from '../support/schemes/subjects/language.ts';

sampledContracts(subjects);
