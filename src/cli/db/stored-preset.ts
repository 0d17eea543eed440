import { usageError } from "../exit.ts";
import { BUILT_IN_NETWORKS, type Network, type PresetName, resolveNetwork } from "../flags/preset.ts";

/** What a database says of its chain, as far as it is known before the code of chains is loaded. */
export interface StoredIdentity {
  kind: "dev" | "node";
  /** Only of a dev chain. */
  preset?: PresetName;
  /** Only of a network's. */
  network?: string;
}

/** The preset of a stored chain, and the network it is of; a network that is not built in has to be given. */
export function storedPreset(
  { kind, preset, network: name = "" }: StoredIdentity,
  given: string | undefined,
  workingDirectory: string,
): { preset: PresetName; network: Network | undefined } {
  if (kind === "dev") return { preset: preset ?? "minimal", network: undefined };
  if (given === undefined && !Object.hasOwn(BUILT_IN_NETWORKS, name)) {
    throw usageError(
      `The chain is that of the network ${name}, which is not built in: give its directory by --network.`,
    );
  }
  const network = resolveNetwork(given ?? name, workingDirectory);
  return { preset: network.preset, network };
}
