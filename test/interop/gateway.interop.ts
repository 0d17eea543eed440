import { expect, it, onTestFinished } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";
import { BeaconRest, until } from "./beacon-rest.ts";
import { FanalBeacon } from "./fanal-beacon.ts";
import { FanalChain } from "./fanal-chain.ts";
import { type BlockMessage, blocksUpTo, GRAFFITI, GRAFFITI_BYTES } from "./finalizing-chain.ts";
import { SLOTS_PER_EPOCH, untilLevel } from "./following.ts";
import { showLastLinesOnFailure } from "./last-lines.ts";
import { LodestarBeacon } from "./lodestar-beacon.ts";
import { type LodestarInstall, testWithCurrentLodestar } from "./lodestar-install.ts";
import { startLodestarValidator } from "./lodestar-validator.ts";

const VALIDATORS = 16;
/** Nothing is finalized without this half. The dev chain runs it until the client starts. */
const CLIENTS_VALIDATORS = [8, 15] as const;

/** Paths for which all nodes of a chain must agree. */
const AGREED = [
  "/eth/v2/beacon/blocks/finalized",
  "/eth/v1/beacon/states/finalized/root",
  "/eth/v1/beacon/states/finalized/validators",
];

/**
 * Finality on a chain of two Fanal nodes and one Lodestar node requires Lodestar's validator client behind a gateway,
 * also after one node is killed.
 */
async function finalizeThroughGateway(fork: string, lodestarTier: number, install?: LodestarInstall): Promise<void> {
  const chain = ["--fork", fork, "--validators", String(VALIDATORS), "--warmup-epochs", "4", "--supernode"];
  const { fanal: first, networkDirectory, bootnodes } = await FanalChain.start(chain);
  const second = await FanalBeacon.start(["node", "--network", networkDirectory, "--data-dir", tempDirectory()]);
  const lodestar = await LodestarBeacon.joining({
    install,
    networkDirectory,
    bootnodes,
    dialsBootnodes: true,
    directory: tempDirectory(),
    whenDone: onTestFinished,
  });
  showLastLinesOnFailure("Lodestar", lodestar.processes);
  for (const { rest } of [second, lodestar]) await lodestar.meanwhile(untilLevel(rest, first.rest));

  const upstreams = [
    `${first.rest.url} name=first`,
    `${second.rest.url} name=second`,
    `${lodestar.rest.url} name=lodestar tier=${lodestarTier}`,
  ];
  const flags = upstreams.flatMap((upstream) => ["--upstream", upstream]);
  const gateway = await Program.served(["gateway", ...flags, "--rest-port", "0"]);
  showLastLinesOnFailure("the gateway", [gateway]);
  const rest = new BeaconRest((await gateway.untilLine(/REST is served at (http:\S+)/))[1]!);
  await first.program.call("dev_setValidators", { online: "0-7" });
  const directory = tempDirectory();
  const client = startLodestarValidator({
    install,
    restUrl: rest.url,
    validators: CLIENTS_VALIDATORS,
    chain: ["--paramsFile", `${networkDirectory}/config.yaml`],
    graffiti: GRAFFITI,
    directory,
    whenDone: onTestFinished,
  });
  showLastLinesOnFailure("the validator client", [client]);

  const meanwhile = <T>(work: Promise<T>) => lodestar.meanwhile(Promise.race([work, client.ended]));
  const { message: firstOfClient } = await meanwhile(
    until(
      () => rest.get<{ message: BlockMessage }>("/eth/v2/beacon/blocks/head"),
      ({ message }) => message.body.graffiti === GRAFFITI_BYTES,
    ),
  );
  const killedAt = Number(firstOfClient.slot);
  await second.program.kill();
  const finalized = await meanwhile(
    until(
      () => first.rest.finalized(),
      async ({ epoch, root }) =>
        Number(epoch) * SLOTS_PER_EPOCH > killedAt && root === (await lodestar.rest.finalized()).root,
    ),
  );
  const slot = Number(finalized.epoch) * SLOTS_PER_EPOCH;
  for (const path of AGREED) {
    const at = path.replace("/finalized", `/${slot}`);
    const said = await rest.get(at);
    expect(said, at).toEqual(await first.rest.get(at));
    expect(said, at).toEqual(await lodestar.rest.get(at));
  }
  // Up to the head: there may be a single block between the kill and finality.
  const { head_slot } = await first.program.call("getChainHead");
  const blocks = await blocksUpTo(first.program, Number(head_slot));
  const isOfClient = ({ body }: BlockMessage) => body.graffiti === GRAFFITI_BYTES;
  expect(blocks.filter((block) => Number(block.slot) > killedAt).some(isOfClient)).toBe(true);
  expect(await lodestar.gossipRejected()).toEqual({});
  expect(gateway.output).not.toMatch(/ (ERROR|FATAL) /);
}

it("Lodestar's validator client finalizes a chain through a gateway, one of whose upstreams is killed", async () => {
  await finalizeThroughGateway("altair", 0);
});

// Lodestar's mock execution engine builds payloads that Fanal rejects, so Lodestar must not be asked for blocks.
testWithCurrentLodestar("so does a current one on fulu", (install) => finalizeThroughGateway("fulu", 1, install));
