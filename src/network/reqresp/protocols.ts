/** Supported request protocols (phase0, deneb, fulu and gloas/p2p-interface.md, The Req/Resp domain). */
export type ProtocolName =
  | "status"
  | "goodbye"
  | "ping"
  | "metadata"
  | "beacon_blocks_by_range"
  | "beacon_blocks_by_root"
  | "beacon_blocks_by_head"
  | "blob_sidecars_by_range"
  | "blob_sidecars_by_root"
  | "data_column_sidecars_by_range"
  | "data_column_sidecars_by_root"
  | "execution_payload_envelopes_by_range"
  | "execution_payload_envelopes_by_root";

/**
 * Served versions, newest first. All of them are served at every fork, because newer versions may be used before their
 * fork (altair/p2p-interface.md, Transitioning from v1 to v2) and peers may lag behind.
 */
export const SERVED_VERSIONS: Record<ProtocolName, readonly number[]> = {
  status: [2, 1],
  goodbye: [1],
  ping: [1],
  metadata: [3, 2, 1],
  beacon_blocks_by_range: [2, 1],
  beacon_blocks_by_root: [2, 1],
  beacon_blocks_by_head: [1],
  blob_sidecars_by_range: [1],
  blob_sidecars_by_root: [1],
  data_column_sidecars_by_range: [1],
  data_column_sidecars_by_root: [1],
  execution_payload_envelopes_by_range: [1],
  execution_payload_envelopes_by_root: [1],
};

export interface Protocol {
  name: ProtocolName;
  version: number;
}

export function protocolId({ name, version }: Protocol): string {
  return `/eth2/beacon_chain/req/${name}/${version}/ssz_snappy`;
}

export function servedProtocols(): Protocol[] {
  return (Object.keys(SERVED_VERSIONS) as ProtocolName[]).flatMap((name) =>
    SERVED_VERSIONS[name].map((version) => ({ name, version })),
  );
}

/** Response codes (phase0/p2p-interface.md, Responding side). */
export const ResponseCode = { SUCCESS: 0, INVALID_REQUEST: 1, SERVER_ERROR: 2, RESOURCE_UNAVAILABLE: 3 } as const;
