import { fromHex, toHex } from "@lodestar/utils";
import { expect, onTestFinished } from "vitest";
import { versionedHashesOf } from "../../src/execution/engine.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { until } from "./beacon-rest.ts";
import { FanalChain } from "./fanal-chain.ts";
import { showLastLinesOnFailure } from "./last-lines.ts";
import { LodestarBeacon, type LodestarJoiningOptions } from "./lodestar-beacon.ts";

const OWN_GRAFFITI = "half of it by Fanal";
/** By then the joining node has found the other, and its validators have proposed. */
const FINALIZED_EPOCH = 5;

/** Without the other half, half of the slots are empty, sometimes four in a row, and nothing is finalized. */
const OF_ONE_HALF = /No blocks in recent slots|Chain is not finalizing .* finalized=0 /;

/** With a known execution client, the client codes follow the operator's graffiti. */
const isOwn = (graffiti: string) => Buffer.from(graffiti.slice(2), "hex").toString().startsWith(OWN_GRAFFITI);

interface Block {
  message: { body: { graffiti: string; blob_kzg_commitments?: string[] } };
}

interface SharedChainOptions extends Pick<LodestarJoiningOptions, "install" | "execution"> {
  /** Blobs of the execution layer by versioned hash. Blocks of both nodes have some. */
  blobs?: ReadonlyMap<string, string> | undefined;
}

/** Finalizes a chain with half of the validators on each node, with blocks of both. */
export async function finalizeTogether(
  args: readonly string[],
  { blobs, ...options }: SharedChainOptions = {},
): Promise<void> {
  const { fanal, networkDirectory, bootnodes } = await FanalChain.start([
    ...["--validators", "32", "--dev-validators", "0-15"],
    ...["--warmup-epochs", "0", "--graffiti", OWN_GRAFFITI],
    ...(blobs ? ["--supernode"] : []),
    ...args,
  ]);
  const lodestar = await LodestarBeacon.joining({
    ...options,
    supernode: blobs !== undefined,
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
    const { message } = await lodestar.rest.get<Block>(`/eth/v2/beacon/blocks/${slot}`);
    const { graffiti, blob_kzg_commitments: commitments = [] } = message.body;
    if (blobs) {
      const given = versionedHashesOf(commitments.map(fromHex)).map((hash) => blobs.get(toHex(hash)));
      for (const { rest } of [lodestar, fanal]) expect(await rest.get(`/eth/v1/beacon/blobs/${slot}`)).toEqual(given);
    }
    if (!blobs || commitments.length > 0) makers.add(isOwn(graffiti));
  }
  expect(makers).toEqual(new Set([true, false]));
  expect(await lodestar.gossipRejected()).toEqual({});
  expect(fanal.program.complaints.filter((line) => !OF_ONE_HALF.test(line))).toEqual([]);
}
