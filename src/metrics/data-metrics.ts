import type { BeaconChain } from "../chain/chain.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { Instruments } from "./instruments.ts";

/** Of blobs and columns. */
export function addDataMetrics(instruments: Instruments, chain: BeaconChain, db: BeaconDb): void {
  const { pool, custody } = chain.data;
  instruments.gauge("beacon_custody_groups", "Custody groups of which the node keeps the columns", () => {
    return custody.groupCount;
  });
  instruments.gauge(
    "fanal_blocks_waiting_for_data",
    "Verified blocks that are not on the chain because blobs or columns of them are missing",
    () => chain.blocksWaitingForData,
  );
  instruments.gauge(
    "fanal_data_pool_bytes",
    "Blobs and columns in memory, of blocks that are not on the chain yet",
    () => pool.size.bytes,
  );
  instruments.gauge("fanal_data_bytes", "About what blobs and columns take on the disk", () => db.data.diskBytes());
}
