import { usageError } from "../exit.ts";
import { BUILT_IN_NETWORKS, type Network, type PresetName, resolveNetwork } from "../flags/node/preset.ts";

/** The part of a stored chain's identity that can be read before the chain code is loaded. */
export interface StoredIdentity {
  kind: "dev" | "node";
  /** Set only for dev chains. */
  preset?: PresetName;
  /** Set only for networks. */
  network?: string;
}

/** Returns the preset and network of a stored chain. A network that is not built in must be passed explicitly. */
export function storedPreset(
  { kind, preset, network: name = "" }: StoredIdentity,
  givenNetwork: string | undefined,
  workingDirectory: string,
): { preset: PresetName; network: Network | undefined } {
  if (kind === "dev") return { preset: preset ?? "minimal", network: undefined };
  if (givenNetwork === undefined && !Object.hasOwn(BUILT_IN_NETWORKS, name)) {
    throw usageError(
      `The chain belongs to network "${name}", which is not built in. Give its directory with --network.`,
    );
  }
  const network = resolveNetwork(givenNetwork ?? name, workingDirectory);
  return { preset: network.preset, network };
}
