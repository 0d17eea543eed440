/**
 * Measures eth_* on the Ethereum port: small calls and eth_call, repeated and with another argument in every
 * request, against the beacon port, a bare `node:http` server, Anvil and EDR; an eth_call of 10,000,000 gas;
 * eth_getLogs over a long chain; a contract test from the import of its chain to the last assertion.
 *
 *     npm run bench -- eth [rounds] [seconds per round] [blocks]
 *     npm run bench -- eth contract-test
 *
 * Anvil and EDR come from npm. A chain without a binary for the platform is left out.
 */
import { benchContractTests } from "./eth/contract-tests.ts";
import { benchEth } from "./eth/run.ts";

if (process.argv[2] === "contract-test") await benchContractTests();
else {
  await benchEth({
    rounds: Number(process.argv[2] ?? 5),
    seconds: Number(process.argv[3] ?? 1),
    blocks: Number(process.argv[4] ?? 10_000),
  });
}
