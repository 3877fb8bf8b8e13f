// The entry of the console. The paths are absolute, because the modules are served from /console/.
import { start } from '/console/shell.js';

start();
