import type { BeaconDb } from "../../db/beacon-db.ts";
import type { RememberedPeer } from "../../db/meta-repository.ts";
import { addAddress, type KnownPeers } from "./known-peers.ts";

const MAX_PEERS = 128;
/** The newest are those that worked last. */
const ADDRESSES_PER_PEER = 3;

/** The peers that were good, in the database: whom a node dials first when it starts again. */
export class PeerMemory {
  readonly #db: Pick<BeaconDb, "meta" | "batch">;
  /** Those of the last life, the most recently good one first. */
  readonly remembered: readonly RememberedPeer[];

  static async open(db: Pick<BeaconDb, "meta" | "batch">): Promise<PeerMemory> {
    return new PeerMemory(db, (await db.meta.getPeers()) ?? []);
  }

  private constructor(db: Pick<BeaconDb, "meta" | "batch">, remembered: readonly RememberedPeer[]) {
    this.#db = db;
    this.remembered = remembered;
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

  /** Remembers those of the peers that were good and can be dialled; of too many, the ones that were good last. */
  async store(known: KnownPeers): Promise<void> {
    const good = [...known.values()].flatMap(({ id, addresses, enr, lastGoodAt }): RememberedPeer[] =>
      lastGoodAt === null || addresses.size === 0
        ? []
        : [{ id, addresses: [...addresses].slice(-ADDRESSES_PER_PEER), enr, lastGoodAt }],
    );
    good.sort((a, b) => b.lastGoodAt - a.lastGoodAt);
    const batch = this.#db.batch();
    batch.meta.putPeers(good.slice(0, MAX_PEERS));
    await batch.write();
  }
}
