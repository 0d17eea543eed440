import { expect, onTestFinished } from "vitest";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "./beacon-rest.ts";
import { FanalChain } from "./fanal-chain.ts";
import { showLastLinesOnFailure } from "./last-lines.ts";
import { LodestarBeacon, type LodestarJoiningOptions } from "./lodestar-beacon.ts";

const OWN_GRAFFITI = "half of it by Fanal";
/** By then the node that joins has found the other and its validators have proposed. */
const FINALIZED_EPOCH = 5;

/** Where an execution client is known, what it and the node are follows the operator's own words. */
const isOwn = (graffiti: string) => Buffer.from(graffiti.slice(2), "hex").toString().startsWith(OWN_GRAFFITI);

/** Has a chain, of which each node runs one half of the validators, finalized by both, with blocks of both. */
export async function finalizeTogether(
  args: readonly string[],
  options: Pick<LodestarJoiningOptions, "install" | "execution"> = {},
): Promise<void> {
  const { fanal, networkDirectory, bootnodes } = await FanalChain.start([
    ...["--validators", "32", "--dev-validators", "0-15"],
    ...["--warmup-epochs", "0", "--graffiti", OWN_GRAFFITI],
    ...args,
  ]);
  const lodestar = await LodestarBeacon.joining({
    ...options,
    networkDirectory,
    bootnodes,
    validators: [16, 31],
    directory: tempDirectory(),
    whenDone: onTestFinished,
  });
  showLastLinesOnFailure("Lodestar", lodestar.processes);
  // Neither half can justify anything alone.
  const finalized = await lodestar.meanwhile(
    until(
      () => fanal.rest.finalized(),
      async ({ epoch, root }) => Number(epoch) >= FINALIZED_EPOCH && root === (await lodestar.rest.finalized()).root,
    ),
  );
  const slots = await lodestar.rest.canonicalSlots(finalized.root, 1);
  expect(await fanal.rest.canonicalSlots(finalized.root, 1)).toEqual(slots);
  const makers = new Set<boolean>();
  for (const slot of slots) {
    const { message } = await lodestar.rest.get<{ message: { body: { graffiti: string } } }>(
      `/eth/v2/beacon/blocks/${slot}`,
    );
    makers.add(isOwn(message.body.graffiti));
  }
  expect(makers).toEqual(new Set([true, false]));
  expect(await lodestar.gossipRejected()).toEqual({});
  // Until the other half is there, half of the slots have no block, now and then four in a row.
  expect(fanal.program.complaints.filter((line) => !line.includes("Slots have no blocks"))).toEqual([]);
}
