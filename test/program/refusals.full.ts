import "./refusals.test.ts";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeNetworkDirectory } from "../support/directories/network-directory.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";
import { ProgramHere } from "../support/program/program-here.ts";
import { devFlags, madeDevChain, refusal } from "../support/program/refusals.ts";

it("a data directory of a dev chain with another preset", async () => {
  const dataDir = tempDirectory();
  await madeDevChain(dataDir);
  const flags = [...devFlags(dataDir), "--preset", "mainnet", "--validators", "32"];
  expect(await refusal(flags, "dataDirMismatch", Program)).toMatch(/the preset is minimal \(requested: mainnet\)/);
});

it("a data directory of a network with another preset", async () => {
  const nodeDir = tempDirectory();
  const { config, genesis } = await madeDevChain(tempDirectory());
  const network = writeNetworkDirectory(join(tempDirectory(), "smallnet"), config, genesis);
  const node = await ProgramHere.served(["node", "--no-p2p", "--network", network, "--data-dir", nodeDir]);
  await node.stop();
  expect(await refusal(["node", "--network", "sepolia", "--data-dir", nodeDir], "dataDirMismatch", Program)).toBe(
    `The data directory ${nodeDir} holds the chain of network "smallnet", not the chain of network "sepolia"; give another --data-dir.`,
  );
});
