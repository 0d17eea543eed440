import type { BeaconDb } from "../../db/beacon-db.ts";
import type { RememberedPeer, StoredBan } from "../../db/meta-repository.ts";
import type { Logger } from "../../log/logger.ts";
import { addAddress, type KnownPeers } from "./known-peers.ts";

const MAX_PEERS = 128;
/** The newest are those that worked last. */
const ADDRESSES_PER_PEER = 3;

/** The peers that were good and those that are banned, in the database. A restarted node dials the former first. */
export class PeerMemory {
  readonly #db: Pick<BeaconDb, "meta" | "batch">;
  /** Those of the last life, the most recently good one first. */
  readonly remembered: readonly RememberedPeer[];
  /** The bans of the last run; some may have expired. */
  readonly bans: readonly StoredBan[];

  /** A record that cannot be read is ignored: the node finds peers without it. */
  static async open(db: Pick<BeaconDb, "meta" | "batch">, logger: Logger): Promise<PeerMemory> {
    const read = async <T>(list: () => Promise<T[] | null>, isValid: (item: T) => boolean): Promise<T[]> => {
      try {
        const items = (await list()) ?? [];
        if (items.every(isValid)) return items;
        throw new Error("An entry has another form.");
      } catch (error) {
        logger.topic("peers").warn("Stored peers or bans unreadable, ignoring them", { error });
        return [];
      }
    };
    const peers = await read(() => db.meta.getPeers(), isPeer);
    const bans = await read(() => db.meta.getBans(), isBan);
    return new PeerMemory(db, peers, bans);
  }

  private constructor(
    db: Pick<BeaconDb, "meta" | "batch">,
    remembered: readonly RememberedPeer[],
    bans: readonly StoredBan[],
  ) {
    this.#db = db;
    this.remembered = remembered;
    this.bans = bans;
  }

  /** Makes the remembered peers known, those that were good last as the newest. */
  recall(known: KnownPeers): void {
    for (const { id, addresses, enr, lastGoodAt } of this.remembered.toReversed()) {
      const peer = known.touch(id);
      peer.enr ??= enr;
      peer.lastGoodAt = lastGoodAt;
      for (const address of addresses) addAddress(peer, address);
    }
  }

  /** Stores the bans, and the peers that were good and can be dialled; of too many, the ones that were good last. */
  async store(known: KnownPeers, bans: readonly StoredBan[]): Promise<void> {
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
