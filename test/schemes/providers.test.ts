import { sampledContracts } from '../support/scheme-contract.ts';
import { subjects } from '../support/schemes/subjects/providers.ts';

sampledContracts(subjects);
