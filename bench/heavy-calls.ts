/**
 * Measures a dev chain with two-second slots while clients make calls that cannot be interrupted, one kind of call at a
 * time: blocks on time, latency of eth_blockNumber, and how long the calls take.
 *
 *     npm run bench -- heavy-calls [--seconds SECONDS] [--only TEXT]
 *
 * The exit code is 1 if a slot has no block in time, or if a call exceeds its time limit.
 */
import { parseArgs } from "node:util";
import { benchHeavyCalls } from "./heavy-calls/run.ts";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "16" }, only: { type: "string", default: "" } },
});
process.exitCode = (await benchHeavyCalls({ seconds: Number(values.seconds), only: values.only })) ? 0 : 1;
