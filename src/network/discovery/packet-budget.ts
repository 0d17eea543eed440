export interface PacketLimits {
  perSecond: number;
  perSecondAndAddress: number;
}

/** Looking at a packet costs decryption, and sometimes the check of a signature; a lookup of ours needs a few dozen. */
const DEFAULT_LIMITS: PacketLimits = { perSecond: 1000, perSecondAndAddress: 200 };

/** How many packets are looked at. What it remembers is bounded by what it lets pass in a second. */
export class PacketBudget {
  readonly #limits: PacketLimits;
  readonly #ofAddress = new Map<string, number>();
  #second = 0;
  #passed = 0;

  constructor(limits: PacketLimits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  /** `nowMs` is of any clock that does not go backwards. */
  allows(address: string, nowMs: number): boolean {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#passed = 0;
      this.#ofAddress.clear();
    }
    const ofAddress = this.#ofAddress.get(address) ?? 0;
    if (this.#passed >= this.#limits.perSecond || ofAddress >= this.#limits.perSecondAndAddress) return false;
    this.#passed++;
    this.#ofAddress.set(address, ofAddress + 1);
    return true;
  }
}
