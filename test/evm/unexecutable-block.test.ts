import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import { readDbOperands } from "../../src/cli/db/actions.ts";
import { runDb } from "../../src/cli/db/db.ts";
import { asStartupError } from "../../src/cli/start/start-errors.ts";
import { toHex } from "../../src/evm/execution/payload.ts";
import { FULU, openControlled } from "../support/chain/controlled-chain.ts";
import { EVM, hexOf, openEvmChain } from "../support/chain/evm-chain.ts";
import { sharedKzg as kzg } from "../support/data/kzg/shared-kzg.ts";
import { inDataDirectory } from "../support/directories/data-directory.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { SameThreadEvm } from "../support/evm/thread/same-thread.ts";

const RECEIVER = new Uint8Array(20).fill(0x77);
const OTHER = new Uint8Array(20).fill(0x78);
const FINAL_SLOT = 5 * SLOTS_PER_EPOCH;

/** Runs `fanal db` and returns its output. */
async function db(dataDir: string, ...operands: string[]): Promise<string> {
  let printed = "";
  const options = { ...readDbOperands(operands), dataDir, network: undefined, workingDirectory: "/", environment: {} };
  await runDb(options, {
    isInteractive: false,
    write: async (chunk) => {
      printed += String(chunk);
      return true;
    },
    writeError: () => {},
    readInput: async () => Buffer.alloc(0),
  });
  return printed;
}

it("names a finalized block that cannot be executed again, and continues before it after a rewind", async () => {
  const directory = tempDirectory();
  const first = await openEvmChain({}, directory);
  await first.send(0, { to: OTHER, value: 5n });
  await first.advance(SLOTS_PER_EPOCH + 2);
  await first.call("anvil_setBalance", [hexOf(RECEIVER), "0x64"]);
  await first.advance(1);
  const { slot } = first.chain.head;
  const { hash, header } = first.engine.head;
  await first.advance(FINAL_SLOT - slot);
  expect(first.engine.finalized.header.number).toBeGreaterThan(header.number);
  await first.close();
  await inDataDirectory(directory, (stored) => stored.meta.deleteCustoms(`evmOverrides/${toHex(hash)}`));

  const { startWorker: startEvmWorker } = new SameThreadEvm();
  const second = await openControlled(FULU, directory, { ...EVM, chainTuning: { kzg }, startEvmWorker });
  const failure = await second.node.untilReady(second.devChain.evm!.ready).catch((error: unknown) => error);
  expect(asStartupError(failure)?.message).toMatch(
    new RegExp(
      `^The data directory ${directory} cannot be used: The execution block ${header.number} of slot ${slot} ` +
        `\\(${toHex(hash)}\\) cannot be executed again: Invalid stateRoot: .*; .*"fanal db rewind SLOT".*\\.$`,
    ),
  );
  expect(second.complaints.filter((line) => line.includes("Stored payload failed re-execution"))).toHaveLength(1);
  const error = await second.call("eth_blockNumber").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: "unavailable", message: expect.stringContaining("cannot be executed again") });
  await second.close();

  expect(await db(directory, "rewind", String(slot))).toMatch(
    new RegExp(`now holds the chain from slot 0 to slot ${slot - 1}, finalized up to slot \\d+, with ${slot} blocks`),
  );
  const third = await openEvmChain({}, directory);
  expect([third.chain.head.slot, third.chain.clock.currentSlot]).toEqual([slot - 1, slot - 1]);
  expect([third.balance(OTHER), third.balance(RECEIVER)]).toEqual([5n, 0n]);
  await third.send(0, { to: OTHER, value: 1n });
  await third.advance(FINAL_SLOT - slot + 1);
  expect(third.engine.finalized.header.number).toBeGreaterThan(header.number);
  expect(third.balance(OTHER)).toBe(6n);
  await third.engine.flush();
  const archived = await third.engine.archive!.byNumber(header.number);
  expect(archived?.header.timestamp).toBe(header.timestamp);
  expect(toHex(archived!.hash)).not.toBe(toHex(hash));
  expect(await third.engine.archive!.has(toHex(hash))).toBe(false);
  // Stored votes for blocks that are gone.
  expect(third.complaints.filter((line) => !line.includes("Ignored stored blocks or votes"))).toEqual([]);
  await third.close();

  expect(await db(directory, "check")).toMatch(/No problems found\.\n$/);
  expect(await db(directory, "rewind", "1000")).toMatch(/^The newest block is that of slot \d+, nothing changed\.\n$/);
});
