/**
 * A gateway beside the node that it asks, in one run: how much later answers come, how many of them one core gives,
 * what validation costs, what is kept, what two gateways with one Redis ask, what clients see while an upstream fails, and a long list. All
 * are the real program.
 *
 *     npm run bench -- gateway [--only TEXT] [--rounds 5] [--seconds 2] [--validators 1000000]
 *
 * `--only` takes a part: speed, validation, workers, single flight, faults, long list. The long list is that of all validators of a state
 * that is built once and kept where the benchmark "scale" keeps it (BENCH_DIR). A single flight needs redis-server,
 * which Debian has in the package redis-server.
 *
 * The exit code is 1 when a gateway costs more than it may.
 */
import { parseArgs } from "node:util";
import { benchGateway } from "./gateway/run.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    validators: { type: "string", default: "1000000" },
  },
});
const isWithinBudget = await benchGateway({
  only: values.only,
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  validators: Number(values.validators),
});
process.exitCode = isWithinBudget ? 0 : 1;
