/**
 * Measures JSON-RPC and REST calls: requests per second against a bare `node:http` server that reads the same request
 * and answers the same bytes. The servers and the load generator are separate processes; the servers take turns.
 *
 *     npm run bench -- json-rpc [rounds] [seconds per round] [fanal-process.ts of another checkout]
 *
 * With another checkout, its server is measured too, and a second table compares both.
 *
 * The exit code is 1 if the JSON-RPC server reaches less than 40 % of the bare server, or a batch of 100 calls less
 * than 5 times the rate of single calls.
 */
import { benchJsonRpc } from "./json-rpc/run.ts";

const isWithinBudget = await benchJsonRpc({
  rounds: Number(process.argv[2] ?? 9),
  seconds: Number(process.argv[3] ?? 2),
  otherPath: process.argv[4],
});
process.exitCode = isWithinBudget ? 0 : 1;
