import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { removableDirectory } from "../../../test/support/directories/removable-directory.ts";
import { ChainFileWriter, EntryKind } from "../../chain/stored/chain-file.ts";
import type { DevIdentity } from "../identity.ts";
import { ChainReplacer } from "./chain-replacer.ts";
import { DevDumps } from "./dumps.ts";

const OWN: DevIdentity = {
  kind: "dev",
  preset: "minimal",
  validators: 8,
  forks: [{ fork: "fulu", epoch: 0 }],
  slotSeconds: 2,
  genesisTime: 1000,
  genesisValidatorsRoot: `0x${"11".repeat(32)}`,
  config: { SHARD_COMMITTEE_PERIOD: "4" },
};

/** Loads a dump that contains only a header. Returns the error message. */
async function refusalOf(identity: unknown): Promise<string> {
  const directory = removableDirectory();
  onTestFinished(directory.remove);
  const path = join(directory.path, "dump");
  const file = await ChainFileWriter.create(path);
  const about = { identity, finalized: { epoch: 0, root: `0x${"33".repeat(32)}` }, clockSlot: 0 };
  await file.write(EntryKind.about, Buffer.from(JSON.stringify(about)));
  await file.close();
  const parts = {
    chain: { config: {} },
    time: { whilePaused: (work: () => Promise<void>) => work() },
    db: { path: join(directory.path, "beacon-db"), meta: { getIdentity: async () => OWN } },
  } as unknown as ConstructorParameters<typeof ChainReplacer>[0];
  const dumps = new DevDumps({ ...parts, replacer: new ChainReplacer(parts) });
  return dumps.load(await readFile(path)).then(
    () => "none",
    (error: Error) => error.message,
  );
}

const ONLY_SAME = "Only a dump with the same genesis can be loaded into a running chain.";

it.each<[string, unknown, string]>([
  [
    "other validators",
    { ...OWN, genesisValidatorsRoot: `0x${"22".repeat(32)}` },
    `The dump holds a dev chain with another genesis validators root. ${ONLY_SAME}`,
  ],
  [
    "another genesis time",
    { ...OWN, genesisTime: 1001 },
    `The dump holds a dev chain with other parameters: the genesis time is 1001 (requested: 1000). ${ONLY_SAME}`,
  ],
  [
    "another configuration",
    { ...OWN, config: { SHARD_COMMITTEE_PERIOD: "5" } },
    `The dump holds a dev chain with SHARD_COMMITTEE_PERIOD "5" instead of "4". ${ONLY_SAME}`,
  ],
  [
    "a network's chain",
    { kind: "node", network: "mainnet" },
    `The dump holds the chain of a network, not a dev chain. ${ONLY_SAME}`,
  ],
])("rejects a dump with %s", async (_, identity, refusal) => {
  expect(await refusalOf(identity)).toBe(refusal);
});

it("rejects a truncated dump of the same genesis", async () => {
  expect(await refusalOf(OWN)).toBe("The dump cannot be loaded: it is incomplete.");
});
