import { join } from "node:path";
import type { DevChain } from "../../dev/dev-chain.ts";
import { writeBootnodes, writeNetworkDirectory } from "../../dev/network-directory.ts";
import type { Logger } from "../../log/logger.ts";
import type { Networking } from "../../sync/networking.ts";
import { StartupError } from "../exit.ts";

const directoryIn = (dataDir: string) => join(dataDir, "network");

/** Writes what other nodes need to know of the chain into its data directory. */
export async function describeNetwork({ chain, config, isNew }: DevChain, dataDir: string): Promise<void> {
  const genesisState = async () => {
    const genesis = await chain.states.genesis();
    if (genesis === null) throw new Error("the database does not hold the chain's genesis state");
    return genesis.serialize();
  };
  await writing(dataDir, () => writeNetworkDirectory(directoryIn(dataDir), { config, isNew, genesisState }));
}

/** Says how other nodes join the chain; from now on they can. */
export async function inviteOthers({ listening }: Networking, dataDir: string, logger: Logger): Promise<void> {
  await writing(dataDir, () => writeBootnodes(directoryIn(dataDir), [listening.enr]));
  logger.notice(`Another node joins with: fanal node --network ${directoryIn(dataDir)} --data-dir DIR --p2p-port 0`);
}

async function writing(dataDir: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError("dataDirUnusable", `${directoryIn(dataDir)} cannot be written: ${reason}.`, error);
  }
}
