/**
 * Compares a gateway with its upstream in one run: latency and answers per core, the cost of validation, several
 * processes, reads from Redis, the requests of two gateways with one Redis, reads while an upstream fails, and a long
 * list. All programs are real.
 *
 *     npm run bench -- gateway [--only TEXT] [--rounds 5] [--seconds 2] [--validators 1000000]
 *
 * `--only` selects a part: speed, validation, workers, redis, single flight, faults, long list. The long list contains
 * all validators of a state that the benchmark "scale" builds once (BENCH_DIR). The parts "redis" and "single flight"
 * need redis-server (Debian package redis-server).
 *
 * The exit code is 1 if a gateway exceeds its limits.
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
