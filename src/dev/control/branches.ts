import { EFFECTIVE_BALANCE_INCREMENT, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type Branch,
  type BranchControl,
  type BranchName,
  ControlError,
  type Fork,
  type Reorg,
} from "../../api/dev-control.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { ForkChoiceBlock } from "../../chain/fork-choice/types.ts";
import type { DutyPlan } from "../validators/duty-plan.ts";
import { isInShare } from "./even-share.ts";
import type { DevTime } from "./time.ts";

/**
 * Maximum number of slots for a reorg. Every validator votes once per epoch, so the new branch overtakes the old one
 * sooner.
 */
const MAX_REORG_SLOTS = 4 * SLOTS_PER_EPOCH;

interface DevBranchesParts {
  chain: BeaconChain;
  time: DevTime;
}

interface Branches {
  ancestor: ForkChoiceBlock;
  /** Last block of each branch. The tip of an empty new branch is the ancestor. */
  tips: Record<BranchName, ForkChoiceBlock>;
}

/** Creates branches by choosing the parents and votes of validators. Fork choice selects the head as usual. */
export class DevBranches implements BranchControl {
  readonly #parts: DevBranchesParts;
  #plan: DutyPlan | undefined;
  #branches: Branches | undefined;

  constructor(parts: DevBranchesParts) {
    this.#parts = parts;
  }

  /** Duty plan of the current slot; undefined while validators follow the head. */
  get plan(): DutyPlan | undefined {
    return this.#plan;
  }

  reorg(depth: number, signal?: AbortSignal): Promise<Reorg> {
    const { chain, time } = this.#parts;
    return time.whilePaused(async () => {
      await chain.refreshHead();
      const oldHead = chain.head;
      const commonAncestor = this.#blockBeforeHead(depth);
      let newHead = commonAncestor;
      for (let slots = 1; slots <= MAX_REORG_SLOTS && signal?.aborted !== true; slots++) {
        newHead = await this.#grow(newHead, {});
        if (newHead.root !== commonAncestor.root && chain.head.root === newHead.root) {
          return { oldHead, newHead, commonAncestor, slots };
        }
      }
      throw ControlError.conflict(
        `The new branch with tip ${newHead.root} at slot ${newHead.slot} did not become the head by slot ` +
          `${chain.clock.currentSlot}: too few online validators vote for it.`,
      );
    });
  }

  fork({ depth, newShare, slots, signal }: Parameters<BranchControl["fork"]>[0]): Promise<Fork> {
    const { chain, time } = this.#parts;
    return time.whilePaused(async () => {
      await chain.refreshHead();
      const branches = (depth === undefined ? this.#lastBranches() : undefined) ?? this.#startBranches(depth ?? 1);
      this.#branches = branches;
      const { tips } = branches;
      for (let passed = 0; passed < slots && signal?.aborted !== true; passed++) {
        const [built, other]: [BranchName, BranchName] =
          tips.new.slot <= tips.old.slot ? ["new", "old"] : ["old", "new"];
        const otherShare = other === "new" ? newShare : 1 - newShare;
        const includes = (voter: number) => isInShare(voter, newShare) === (other === "new");
        const splitVote = otherShare > 0 ? { root: tips[other].root, includes } : undefined;
        tips[built] = await this.#grow(tips[built], { splitVote });
      }
      return this.#describe(branches);
    });
  }

  /** Advances one slot whose proposer builds on `parent`. Returns the new block, or `parent` if none was built. */
  async #grow(parent: ForkChoiceBlock, plan: DutyPlan): Promise<ForkChoiceBlock> {
    const { chain, time } = this.#parts;
    this.#plan = { ...plan, parentRoot: parent.root };
    try {
      await time.advanceSlot();
    } finally {
      this.#plan = undefined;
    }
    const { forkChoice, clock } = chain;
    return forkChoice.blocksAtSlot(clock.currentSlot).find(({ parentRoot }) => parentRoot === parent.root) ?? parent;
  }

  /**
   * Returns the ancestor `depth` blocks below the head. Fork choice never reorgs a block that is justified, realized or
   * unrealized.
   */
  #blockBeforeHead(depth: number): ForkChoiceBlock {
    const { forkChoice, head } = this.#parts.chain;
    const protectedRoots = [forkChoice.justified.root, forkChoice.unrealizedJustified.root];
    let blocksAbove = 0;
    for (const block of forkChoice.ancestors(head.root)) {
      if (blocksAbove === depth) return block;
      if (protectedRoots.includes(block.root)) break;
      blocksAbove++;
    }
    const requested = depth === 1 ? "The last block" : `The last ${depth} blocks`;
    const reason =
      blocksAbove === 0 ? "the head is the justified block" : `only ${blocksAbove} follow the justified block`;
    throw ControlError.conflict(`${requested} cannot be replaced: ${reason}.`);
  }

  #startBranches(depth: number): Branches {
    const ancestor = this.#blockBeforeHead(depth);
    return { ancestor, tips: { old: this.#parts.chain.head, new: ancestor } };
  }

  /**
   * Returns the branches from the last call, or undefined if there are none or justification has decided between them.
   */
  #lastBranches(): Branches | undefined {
    const { forkChoice, head } = this.#parts.chain;
    if (!this.#branches) return undefined;
    const { ancestor, tips } = this.#branches;
    const mayBeHead = ({ root }: ForkChoiceBlock) => forkChoice.isDescendant(forkChoice.unrealizedJustified.root, root);
    if (!forkChoice.has(ancestor.root) || !mayBeHead(tips.old) || !mayBeHead(tips.new)) return undefined;
    const followed = (tip: ForkChoiceBlock) => (forkChoice.isDescendant(tip.root, head.root) ? head : tip);
    const isBegun = tips.new.root !== ancestor.root;
    return { ancestor, tips: { old: followed(tips.old), new: isBegun ? followed(tips.new) : tips.new } };
  }

  #describe({ ancestor, tips }: Branches): Fork {
    const { forkChoice, head } = this.#parts.chain;
    const branchOf = (tip: ForkChoiceBlock): Branch & { hasHead: boolean } => {
      const first = [...forkChoice.ancestors(tip.root)].find(({ parentRoot }) => parentRoot === ancestor.root);
      if (!first) return { head: tip, weight: 0, hasHead: false };
      const weight = Math.round(forkChoice.weightOf(first.root) * EFFECTIVE_BALANCE_INCREMENT);
      return { head: tip, weight, hasHead: forkChoice.isDescendant(first.root, head.root) };
    };
    const branches = { old: branchOf(tips.old), new: branchOf(tips.new) };
    return { branches, commonAncestor: ancestor, head: branches.new.hasHead ? "new" : "old" };
  }
}
