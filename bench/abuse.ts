/**
 * Measures the latency of other clients during attacks. Each attack runs against its own node, which a probe asks for
 * the head every 20 ms: during the attack and after it. Then the attack starts again and the node is stopped under it.
 *
 *     npm run bench -- abuse [--validators COUNT] [--seconds SECONDS] [--only TEXT]
 *
 * The chain has the mainnet preset from 1024 validators on. The exit code is 1 if a node dies, does not recover, or
 * does not stop in time.
 */
import { parseArgs } from "node:util";
import { benchAbuse } from "./abuse/run.ts";

const { values } = parseArgs({
  options: {
    validators: { type: "string", default: "64" },
    seconds: { type: "string", default: "10" },
    only: { type: "string", default: "" },
  },
});
const { validators, seconds, only } = values;
const isWell = await benchAbuse({ validators: Number(validators), seconds: Number(seconds), only });
process.exitCode = isWell ? 0 : 1;
