/**
 * What clients that mean harm cost the others: one attack after the other, each on a node of its own, while somebody
 * asks that node for its head every 20 milliseconds. Then the attack ends, and the same is asked again; then it begins
 * anew, and the node has to stop in its midst.
 *
 *     npm run bench -- abuse [--validators COUNT] [--seconds SECONDS] [--only TEXT]
 *
 * With 1024 validators or more the chain has the mainnet preset. The exit code is 1 when a node died, did not recover,
 * or did not stop as it should.
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
