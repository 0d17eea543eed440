import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { toHex } from "@lodestar/utils";
import { expect, it, onTestFinished, vi } from "vitest";
import { openDevChain } from "../support/chain/dev-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ExecutionLayer } from "../support/execution-layer/execution-layer.ts";
import { executionGenesis } from "../support/execution-layer/genesis.ts";
import { serveExecutionLayer } from "../support/execution-layer/http-server.ts";

/** Enough for finality, and for a forkchoice update in between. */
const HISTORY = 4 * 8 + 2;
const SECRET = new Uint8Array(32).fill(7);

const blockNumber = ({ chain }: ExecutionLayer) => Number(chain.head.block.header.number);

it("an execution client that lost its data receives all blocks, and the chain continues", async () => {
  const genesis = executionGenesis({ timestamp: 1_700_000_000, forks: { shanghai: 0, cancun: 0, prague: 0 } });
  const layer = await ExecutionLayer.open(genesis);
  const served = await serveExecutionLayer(layer, { secret: SECRET });
  onTestFinished(() => served.close());
  const directory = tempDirectory();
  const jwtSecretFile = join(directory, "jwt.hex");
  writeFileSync(jwtSecretFile, toHex(SECRET), { mode: 0o600 });
  const { devChain, complaints } = await openDevChain(
    { validators: 8, forks: [{ fork: "electra", epoch: 0 }], execution: { urls: [served.url], jwtSecretFile } },
    directory,
  );
  const { clock, chain } = devChain;
  await clock.advanceTo(HISTORY);
  expect(chain.head.slot).toBe(HISTORY);
  expect(chain.forkChoice.finalized.epoch).toBeGreaterThan(0);
  await vi.waitFor(() => expect(blockNumber(layer)).toBe(HISTORY));

  const emptied = await ExecutionLayer.open(genesis);
  layer.faults.set("*", ({ call }) => emptied.answer(call.method, call.params));
  await clock.advanceTo(HISTORY + 1);
  await vi.waitFor(() => expect(emptied.chain.head.hash).toBe(layer.chain.head.hash), { timeout: 10_000 });
  // The first slot is missed, because there was no parent to build on.
  await clock.advanceTo(HISTORY + 4);
  expect(chain.head.slot).toBe(HISTORY + 4);
  await vi.waitFor(() => expect(blockNumber(emptied)).toBe(HISTORY + 3));
  expect(complaints.filter((line) => line.includes(" ERROR "))).toEqual([]);
});
