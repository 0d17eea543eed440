/**
 * What a JSON-RPC call costs: requests per second that the server answers, against a bare `node:http` server that reads the same request
 * and answers the same bytes. Both and the load generator are processes of their own; the servers take turns.
 *
 *     npm run bench -- json-rpc [rounds] [seconds a round] [fanal-process.ts of another checkout]
 *
 * With another checkout its server takes part as well, and a further table compares the two.
 *
 * The exit code is 1 when the JSON-RPC server reaches less than 40 % of the bare server, or a batch of 100 calls less than 5 times
 * the rate of single calls.
 */
import { benchJsonRpc } from "./json-rpc/run.ts";

const isWithinBudget = await benchJsonRpc({
  rounds: Number(process.argv[2] ?? 9),
  seconds: Number(process.argv[3] ?? 2),
  otherPath: process.argv[4],
});
process.exitCode = isWithinBudget ? 0 : 1;
