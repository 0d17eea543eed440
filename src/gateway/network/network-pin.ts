import type { PinnedConstants } from "./spec-constants.ts";

/** The network that the gateway serves. */
export interface NetworkPin {
  /** Name in logs and errors. */
  readonly name: string;
  readonly genesisValidatorsRoot: string;
  /** Unix seconds. Undefined accepts any. */
  readonly genesisTime?: number | undefined;
  /** Undefined takes the constants of a built-in network, or of most upstreams. */
  readonly constants?: PinnedConstants | undefined;
}

export interface Genesis {
  readonly genesisValidatorsRoot: string;
  /** Unix seconds. */
  readonly genesisTime: number;
}

/**
 * Genesis of public networks. Repeated here because importing @lodestar/config fixes the preset of the process.
 * Ephemery is missing: its genesis changes every few weeks.
 */
export const KNOWN_NETWORKS: Readonly<Record<string, Genesis>> = {
  mainnet: {
    genesisTime: 1606824023,
    genesisValidatorsRoot: "0x4b363db94e286120d76eb905340fdd4e54bfe9f06bf33ff6cf5ad27f511bfe95",
  },
  sepolia: {
    genesisTime: 1655733600,
    genesisValidatorsRoot: "0xd8ea171f3c94aea21ebc42a1ed61052acf3f9209c00e4efbaaddac09ed9b8078",
  },
  hoodi: {
    genesisTime: 1742213400,
    genesisValidatorsRoot: "0x212f13fc4df078b6cb7db228f1c8307566dcecf900867401a92023d7ba99cb5f",
  },
  gnosis: {
    genesisTime: 1638993340,
    genesisValidatorsRoot: "0xf5dcb5564e829aab27264b9becd5dfaa017085611224cb3036f573368dbb9d47",
  },
  chiado: {
    genesisTime: 1665396300,
    genesisValidatorsRoot: "0x9d642dac73058fbf39c0ae41ab1e34e4d889043cb199851ded7095bc99eb4c1e",
  },
};

/** Returns the name of a built-in network. */
export function knownNetwork(genesis: Genesis): string | undefined {
  return Object.entries(KNOWN_NETWORKS).find(([, network]) => isOnNetwork(genesis, network))?.[0];
}

export function isOnNetwork({ genesisValidatorsRoot, genesisTime }: Genesis, pin: Omit<NetworkPin, "name">): boolean {
  return (
    genesisValidatorsRoot === pin.genesisValidatorsRoot &&
    (pin.genesisTime === undefined || genesisTime === pin.genesisTime)
  );
}

/** Returns the name of a known network, otherwise its genesis. */
export function describeNetwork(genesis: Genesis): string {
  return knownNetwork(genesis) ?? `${genesis.genesisValidatorsRoot} with genesis time ${genesis.genesisTime}`;
}

/** Genesis that an upstream reports. */
export interface UpstreamNetwork {
  readonly upstream: string;
  readonly genesis: Genesis;
}

/** Thrown if the upstreams disagree about the network or its constants without a majority. */
export class AmbiguousNetworkError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AmbiguousNetworkError";
  }
}

function differentNetworks(networks: readonly UpstreamNetwork[]): AmbiguousNetworkError {
  const genesisByUpstream = networks
    .map(({ upstream, genesis }) => `${upstream} is on ${describeNetwork(genesis)}`)
    .join(", ");
  return new AmbiguousNetworkError(
    `The upstreams are on different networks, without a majority: ${genesisByUpstream}. ` +
      "Remove the wrong ones, or pin the network with --network NAME|DIR|GENESIS_ROOT.",
  );
}

/** Returns the genesis that most upstreams report, or undefined for an empty list. Throws in a tie. */
export function majorityGenesis(networks: readonly UpstreamNetwork[]): Genesis | undefined {
  const counts = networks.map(({ genesis }) => networks.filter((other) => isOnNetwork(other.genesis, genesis)).length);
  const maxCount = Math.max(...counts);
  const majority = networks.filter((_, index) => counts[index] === maxCount).map(({ genesis }) => genesis);
  const [first] = majority;
  if (first !== undefined && majority.length > maxCount) throw differentNetworks(networks);
  return first;
}
