import type { BeaconDb } from "../../db/beacon-db.ts";
import type { RememberedPeer, StoredBan } from "../../db/repositories/meta-repository.ts";
import type { Logger } from "../../log/logger.ts";
import { addAddress, type KnownPeers } from "./known-peers.ts";

const MAX_PEERS = 128;
/** Number of addresses stored per peer. The newest ones have worked most recently. */
const ADDRESSES_PER_PEER = 3;

/** Stores good peers and bans in the database. After a restart, the stored peers are dialed first. */
export class PeerStore {
  readonly #db: Pick<BeaconDb, "meta" | "batch">;
  /** Peers from the last run, most recently good first. */
  readonly peers: readonly RememberedPeer[];
  /** Bans from the last run, which may have expired. */
  readonly bans: readonly StoredBan[];

  /** Reads the stored peers and bans. Ignores unreadable entries with a warning. */
  static async open(db: Pick<BeaconDb, "meta" | "batch">, logger: Logger): Promise<PeerStore> {
    const read = async <T>(list: () => Promise<T[] | null>, isValid: (item: T) => boolean): Promise<T[]> => {
      try {
        const items = (await list()) ?? [];
        if (items.every(isValid)) return items;
        throw new Error("An entry has an invalid shape.");
      } catch (error) {
        logger.topic("peers").warn("Stored peers or bans unreadable, ignoring them", { error });
        return [];
      }
    };
    const peers = await read(() => db.meta.getPeers(), isPeer);
    const bans = await read(() => db.meta.getBans(), isBan);
    return new PeerStore(db, peers, bans);
  }

  private constructor(
    db: Pick<BeaconDb, "meta" | "batch">,
    peers: readonly RememberedPeer[],
    bans: readonly StoredBan[],
  ) {
    this.#db = db;
    this.peers = peers;
    this.bans = bans;
  }

  /** Adds the stored peers to the known peers. The most recently good peer becomes the newest. */
  restore(known: KnownPeers): void {
    for (const { id, addresses, enr, lastGoodAt } of this.peers.toReversed()) {
      const peer = known.touch(id);
      peer.enr ??= enr;
      peer.lastGoodAt = lastGoodAt;
      for (const address of addresses) addAddress(peer, address);
    }
  }

  /** Stores the bans, and the most recently good peers that have an address. */
  async save(known: KnownPeers, bans: readonly StoredBan[]): Promise<void> {
    const good = [...known.values()].flatMap(({ id, addresses, enr, lastGoodAt }): RememberedPeer[] =>
      lastGoodAt === null || addresses.size === 0
        ? []
        : [{ id, addresses: [...addresses].slice(-ADDRESSES_PER_PEER), enr, lastGoodAt }],
    );
    good.sort((a, b) => b.lastGoodAt - a.lastGoodAt);
    const batch = this.#db.batch();
    batch.meta.putPeers(good.slice(0, MAX_PEERS));
    batch.meta.putBans(bans);
    await batch.write();
  }
}

function isPeer(peer: RememberedPeer | null): boolean {
  return typeof peer?.id === "string" && Array.isArray(peer.addresses) && Number.isFinite(peer.lastGoodAt);
}

function isBan(ban: StoredBan | null): boolean {
  const isAddress = ban?.address === null || typeof ban?.address === "string";
  return typeof ban?.peerId === "string" && isAddress && Number.isFinite(ban.until);
}
