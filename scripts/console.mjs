// Starts a double with the traffic of a demonstration, and prints the address of its console. It runs until it is interrupted.
import { startDouble } from '../dist/esm/double/index.js';
import { demonstration, sendTraffic } from './console-traffic.mjs';

const double = await startDouble({ ...demonstration, unref: false });
await sendTraffic(double);
const { console: address } = await double.openControl();
console.log(`Server:  ${double.url}`);
console.log(`Console: ${address}`);
