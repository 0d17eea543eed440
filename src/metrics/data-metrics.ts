import type { BeaconChain } from "../chain/chain.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { Instruments } from "./instruments.ts";

/** Adds metrics for blobs and data columns. */
export function addDataMetrics(instruments: Instruments, chain: BeaconChain, db: BeaconDb): void {
  const { pool, custody } = chain.data;
  instruments.gauge("beacon_custody_groups", "Custody groups of the node", () => {
    return custody.groupCount;
  });
  instruments.gauge(
    "fanal_blocks_waiting_for_data",
    "Verified blocks that wait for blobs or data columns",
    () => chain.blocksWaitingForData,
  );
  instruments.gauge(
    "fanal_data_pool_bytes",
    "Bytes of blobs and data columns in memory, of blocks that are not imported yet",
    () => pool.size.bytes,
  );
  instruments.gauge("fanal_data_bytes", "Approximate disk usage of blobs and data columns", () => db.data.diskBytes());
}
