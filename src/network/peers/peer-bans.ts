import { SYSTEM_TIMERS, type Timers } from "../../async/timers.ts";
import type { StoredBan } from "../../db/repositories/meta-repository.ts";
import { isGlobalAddress } from "../address-scope.ts";
import { BAN_MS, type PeerScores } from "./peer-scores.ts";

/**
 * Number of banned peer ids after which their shared address is banned. A single banned peer may share its address with
 * honest nodes.
 */
const BANS_PER_ADDRESS = 5;
const MAX_BANS = 1_000;

interface PeerBansParts {
  timers?: Pick<Timers, "unixNow">;
  maxBans?: number;
}

/** Banned peer ids and their addresses. An address with several banned peer ids is banned as well. */
export class PeerBans {
  readonly #timers: Pick<Timers, "unixNow">;
  readonly #maxBans: number;
  /** By peer id, newest last. */
  readonly #bans = new Map<string, StoredBan>();

  constructor({ timers = SYSTEM_TIMERS, maxBans = MAX_BANS }: PeerBansParts = {}) {
    this.#timers = timers;
    this.#maxBans = maxBans;
  }

  /**
   * Bans a peer. `ip` is undefined if the peer has never been connected. Loopback and private addresses are never
   * banned.
   */
  add(peerId: string, ip: string | undefined): void {
    const address = ip !== undefined && isGlobalAddress(ip) ? ip : null;
    this.#put({ peerId, address, until: this.#timers.unixNow() + BAN_MS });
  }

  /** Restores unexpired bans from an earlier run. */
  restore(stored: readonly StoredBan[], scores: Pick<PeerScores, "restoreBan">): void {
    const now = this.#timers.unixNow();
    for (const ban of stored) {
      // The system clock may have been set back.
      const remaining = Math.min(ban.until - now, BAN_MS);
      if (remaining <= 0) continue;
      this.#put({ ...ban, until: now + remaining });
      scores.restoreBan(ban.peerId, remaining);
    }
  }

  /** Returns false for a banned address. */
  allowsAddress(ip: string): boolean {
    return this.list().filter(({ address }) => address === ip).length < BANS_PER_ADDRESS;
  }

  /** Returns the active bans, newest last. */
  list(): StoredBan[] {
    const now = this.#timers.unixNow();
    for (const { peerId, until } of this.#bans.values()) if (until <= now) this.#bans.delete(peerId);
    return [...this.#bans.values()];
  }

  #put(ban: StoredBan): void {
    this.#bans.delete(ban.peerId);
    this.#bans.set(ban.peerId, ban);
    if (this.#bans.size <= this.#maxBans) return;
    const [oldest] = this.#bans.keys();
    this.#bans.delete(oldest!);
  }
}
