/** A dev chain with some history that stands still, behind the real door. Tells its parent the address. */
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { createMethodTable } from "../../src/api/method-table.ts";
import { createLogger } from "../../src/log/pino-logger.ts";
import { createJsonRpcServer } from "../../src/server/jsonrpc/server.ts";
import { withDevChain } from "../support/dev-chain.ts";
import { answerCpuQuestions, parentGone, report } from "./child.ts";

const EPOCHS = 5;

await withDevChain({ validators: 64, forks: [], epochs: EPOCHS }, async ({ devChain }) => {
  await devChain.clock.advanceTo(EPOCHS * SLOTS_PER_EPOCH);
  const { logger } = createLogger({ format: "text", spec: "WARN", destination: process.stderr });
  const server = createJsonRpcServer({ table: createMethodTable(devChain.api), logger });
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  answerCpuQuestions();
  report({ port });
  await parentGone();
  await server.close();
});
