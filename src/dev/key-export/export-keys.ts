import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChainConfig } from "@lodestar/config";
import type { ValidatorIndex } from "@lodestar/types";
import { createKeys } from "../create-keys.ts";
import { depositOf } from "../genesis-deposits.ts";
import type { GenesisParameters } from "../genesis-parameters.ts";
import type { SigningRecord } from "../validators/slashing-protection.ts";
import { depositDataEntry } from "./deposit-data.ts";
import { createKeystore } from "./keystore.ts";
import { slashingInterchange } from "./slashing-interchange.ts";

interface ExportedChain extends Pick<GenesisParameters, "keys" | "withdrawals" | "balances"> {
  config: ChainConfig;
  genesisValidatorsRoot: string;
  /** Number of genesis validators. Higher indices are keys of validators without a deposit. */
  validators: number;
  signed: readonly SigningRecord[];
}

/** Paths of the exported files. */
export interface ExportedFiles {
  keystores: string;
  passwords: string;
  password: string;
  depositData: string;
  slashingProtection: string;
}

/**
 * Writes keystores with their passwords, deposit data and slashing protection data to a directory. Validator clients
 * look up a keystore's password by its name, or use a single file for all keystores.
 */
export async function exportKeys(
  chain: ExportedChain,
  indices: readonly ValidatorIndex[],
  directory: string,
  unixSeconds: number,
): Promise<ExportedFiles> {
  const files = {
    keystores: join(directory, "keystores"),
    passwords: join(directory, "passwords"),
    password: join(directory, "password.txt"),
    depositData: join(directory, `deposit_data-${unixSeconds}.json`),
    slashingProtection: join(directory, "slashing_protection.json"),
  };
  const keys = createKeys(chain.keys, chain.validators);
  const password = randomBytes(16).toString("hex");
  for (const folder of [files.keystores, files.passwords]) await mkdir(folder, { recursive: true });
  const deposits = [];
  const validators = [];
  const recordsByIndex = new Map(chain.signed.map((record) => [record.index, record]));
  for (const index of indices) {
    const secretKey = keys.deriveSecretKey(index);
    const publicKey = secretKey.toPublicKey().toBytes();
    const keystore = await createKeystore({
      secretKey: secretKey.toBytes(),
      publicKey,
      path: chain.keys?.kind === "mnemonic" ? `m/12381/3600/${index}/0/0` : "",
      password,
      description: `Fanal dev chain, validator ${index}`,
    });
    // Import commands recognize signing keys by this name.
    const name = `keystore-m_12381_3600_${index}_0_0-${unixSeconds}`;
    await writeFile(join(files.keystores, `${name}.json`), JSON.stringify(keystore));
    await writeFile(join(files.passwords, `${name}.txt`), password);
    deposits.push(depositDataEntry(chain.config, depositOf(chain.config, secretKey, index, chain)));
    validators.push({ publicKey, signed: recordsByIndex.get(index) });
  }
  const interchange = slashingInterchange(chain.genesisValidatorsRoot, validators);
  await writeFile(files.password, password);
  await writeFile(files.depositData, JSON.stringify(deposits));
  await writeFile(files.slashingProtection, JSON.stringify(interchange));
  return files;
}
