import { sampledContracts } from '../support/scheme-contract.ts';
import { subjects } from '../support/schemes/subjects/webhooks.ts';

sampledContracts(subjects);
