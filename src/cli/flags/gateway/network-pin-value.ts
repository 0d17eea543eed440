import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { KNOWN_NETWORKS, type NetworkPin } from "../../../gateway/network/network-pin.ts";
import { type PinnedConstants, parseNetworkConfig } from "../../../gateway/network/spec-constants.ts";
import { type GenesisIdentity, readGenesisIdentity } from "../../../node/chain-source/genesis-file.ts";
import { parseYaml } from "../../../runtime/load-yaml.ts";
import { StartupError } from "../../exit.ts";
import { didYouMean } from "../did-you-mean.ts";
import { isNetworkDirectory, shownNetwork } from "../network-directory.ts";
import { SettingError } from "../setting-error.ts";

/**
 * Resolves a genesis validators root, a built-in network name, or a directory with `genesis.ssz`, tried in this order.
 */
export function resolveNetworkPin(text: string, workingDirectory: string): NetworkPin {
  if (/^0x/i.test(text)) return { name: text, genesisValidatorsRoot: parseRoot(text) };
  const known = Object.hasOwn(KNOWN_NETWORKS, text) ? KNOWN_NETWORKS[text] : undefined;
  if (known !== undefined) return { name: text, ...known };
  const directory = resolve(workingDirectory, text);
  if (isNetworkDirectory(directory)) {
    const constants = readConstants(join(directory, "config.yaml"));
    return { name: directory, ...readGenesis(join(directory, "genesis.ssz")), ...(constants && { constants }) };
  }
  if (text === "ephemery") {
    throw networkError(
      "ephemery is ambiguous, since its genesis changes every few weeks. Give its genesis validators root or its directory",
    );
  }
  const names = Object.keys(KNOWN_NETWORKS);
  const hint = didYouMean(text, names);
  throw networkError(
    `${shownNetwork(text)} is neither a built-in name (${names.join(", ")}), nor a directory, ` +
      `nor a genesis validators root (0x and 64 hex digits)${hint && `.${hint}`}`,
  );
}

function parseRoot(text: string): string {
  if (/^0x[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw networkError(`${shownNetwork(text)} is not a genesis validators root, which has 0x and 64 hex digits`);
}

const networkError = (problem: string) => new SettingError("network", (nameOf) => `${nameOf("network")} ${problem}`);

function readGenesis(file: string): GenesisIdentity {
  let genesis: GenesisIdentity | undefined;
  try {
    genesis = readGenesisIdentity(file);
  } catch (error) {
    throw unreadable(`The genesis state ${file} cannot be read: ${(error as Error).message}`, error);
  }
  if (genesis === undefined) throw unreadable(`The genesis state ${file} is truncated`);
  return genesis;
}

/** Returns undefined if the file does not exist. */
function readConstants(file: string): PinnedConstants | undefined {
  try {
    // Values remain text: a version such as 0x00000001 would lose digits as a YAML number.
    return parseNetworkConfig(parseYaml(readFileSync(file, "utf8")));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    const reason = (error as Error).message.replace(/\.$/, "");
    throw new StartupError("unreadableInput", `The network file ${file} cannot be used: ${reason}.`, error);
  }
}

function unreadable(problem: string, cause?: unknown): StartupError {
  return new StartupError(
    "unreadableInput",
    `${problem}. Give --network the genesis validators root instead, if the directory has no state.`,
    cause,
  );
}
