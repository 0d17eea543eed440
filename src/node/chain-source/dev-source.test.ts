import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SecretKey } from "@chainsafe/blst";
import { expect, it, vi } from "vitest";
import { openDevChain, startDevChain } from "../../../test/support/chain/dev-chain.ts";
import { inDataDirectory } from "../../../test/support/directories/data-directory.ts";
import { tempDirectory } from "../../../test/support/directories/temp-directory.ts";
import type { DevIdentity } from "../../dev/identity.ts";

/** Default in another version of the program. */
const OTHER_CHURN = 77_000_000_000;

async function createChain() {
  const dataDir = tempDirectory();
  const networkDirectory = join(dataDir, "network");
  const configOverrides = { SHARD_COMMITTEE_PERIOD: "7" };
  const options = { validators: 8, forks: [{ fork: "fulu", epoch: 2 } as const], networkDirectory, configOverrides };
  await (await startDevChain(options, dataDir)).close();
  const file = join(networkDirectory, "config.yaml");
  return {
    file,
    describeWith: (replace: (text: string) => string) => writeFileSync(file, replace(readFileSync(file, "utf8"))),
    changeIdentity: (change: (identity: DevIdentity) => DevIdentity) =>
      inDataDirectory(dataDir, async (db) => {
        const batch = db.batch();
        batch.meta.putIdentity(change((await db.meta.getIdentity()) as DevIdentity));
        await batch.write();
      }),
    async config() {
      const { devChain, close } = await openDevChain(options, dataDir);
      await close();
      return devChain.config;
    },
  };
}

const ofEarlierVersion = ({ config: _, ...identity }: DevIdentity): DevIdentity => identity;
const withOtherChurn = (text: string) =>
  text.replace(/^(MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA): .*/m, `$1: ${OTHER_CHURN}`);

it("keeps the stored configuration of a chain when defaults change", async () => {
  const { changeIdentity, config, file } = await createChain();
  await changeIdentity((identity) => {
    const { SLOT_DURATION_MS: _, ...known } = identity.config!;
    return { ...identity, config: { ...known, MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA: String(OTHER_CHURN) } };
  });
  expect(await config()).toMatchObject({
    MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA: OTHER_CHURN,
    SHARD_COMMITTEE_PERIOD: 7,
    FULU_FORK_EPOCH: 2,
    GLOAS_FORK_EPOCH: Number.POSITIVE_INFINITY,
    // Unknown to the earlier version.
    SLOT_DURATION_MS: 2000,
  });
  expect(readFileSync(file, "utf8")).toMatch(`\nMIN_PER_EPOCH_CHURN_LIMIT_ELECTRA: ${OTHER_CHURN}\n`);
});

it("reads the configuration of a chain of an earlier version from its network directory and stores it", async () => {
  const { changeIdentity, config, describeWith, file } = await createChain();
  await changeIdentity(ofEarlierVersion);
  describeWith((text) => withOtherChurn(text).replace(/^SLOT_DURATION_MS: .*\n/m, ""));
  const expected = {
    MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA: OTHER_CHURN,
    SLOT_DURATION_MS: 2000,
    SHARD_COMMITTEE_PERIOD: 7,
  };
  expect(await config()).toMatchObject(expected);
  expect(readFileSync(file, "utf8")).toMatch(`\nMIN_PER_EPOCH_CHURN_LIMIT_ELECTRA: ${OTHER_CHURN}\n`);
  describeWith((text) => text.replaceAll(String(OTHER_CHURN), "64000000000"));
  expect(await config()).toMatchObject(expected);
});

it("ignores a network directory of another chain", async () => {
  const { changeIdentity, config, describeWith } = await createChain();
  await changeIdentity(ofEarlierVersion);
  describeWith((text) => withOtherChurn(text).replace(/^(FULU_FORK_EPOCH): .*/m, "$1: 3"));
  expect(await config()).toMatchObject({ MIN_PER_EPOCH_CHURN_LIMIT_ELECTRA: 128_000_000_000, FULU_FORK_EPOCH: 2 });
});

it("cancels the creation of a chain, and stores nothing of it", async () => {
  const dataDir = tempDirectory();
  const stopping = new AbortController();
  // More validators than are created in one time slice, and than other tests have made keys for.
  const opening = startDevChain({ validators: 5000, signal: stopping.signal }, dataDir);
  const signing = vi.spyOn(SecretKey.prototype, "sign").mockImplementation(function (this: SecretKey, message) {
    setImmediate(() => stopping.abort(new Error("stopped")));
    signing.mockRestore();
    return this.sign(message);
  });
  await expect(opening).rejects.toThrow("stopped");
  expect(await inDataDirectory(dataDir, (db) => db.meta.getIdentity())).toBeNull();
});
