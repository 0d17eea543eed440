/**
 * Whether a node stays as it is under load: clients ask a dev chain in real time for a mix of things, as many a second
 * as are four fifths of what it can answer, for a long time.
 *
 *     npm run bench -- mixed-load [minutes]
 *
 * The exit code is 1 when a call failed.
 */
import { benchMixedLoad } from "./mixed-load/run.ts";

process.exitCode = (await benchMixedLoad(Number(process.argv[2] ?? 30))) ? 0 : 1;
