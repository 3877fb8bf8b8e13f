import { schemeContract } from '../support/scheme-contract.ts';
import {
  adyen,
  binance,
  coinbase,
  discord,
  hubspot,
  mailgun,
  paddle,
  sendgrid,
  square,
  svix,
  zendesk,
} from '../support/schemes/providers.ts';

schemeContract('Svix', svix);
schemeContract('Paddle', paddle);
schemeContract('Square', square);
schemeContract('HubSpot', hubspot);
schemeContract('Zendesk', zendesk);
schemeContract('Discord', discord);
schemeContract('SendGrid', sendgrid);
schemeContract('Coinbase Exchange', coinbase);
schemeContract('Binance', binance);
schemeContract('Mailgun', mailgun);
schemeContract('Adyen', adyen);
