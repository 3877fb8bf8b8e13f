// The paths are absolute: the modules are served from /console/.
import { start } from '/console/shell.js';

start();
