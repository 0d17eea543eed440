/**
 * Measures latency and memory of a dev chain under long load: clients send a mix of calls at 80 % of its capacity.
 *
 *     npm run bench -- mixed-load [minutes]
 *
 * The exit code is 1 if a call fails.
 */
import { benchMixedLoad } from "./mixed-load/run.ts";

process.exitCode = (await benchMixedLoad(Number(process.argv[2] ?? 30))) ? 0 : 1;
