import { EFFECTIVE_BALANCE_INCREMENT, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type Branch,
  type BranchControl,
  type BranchName,
  ControlRefusal,
  type Fork,
  type Reorg,
} from "../../api/dev-control.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { ForkChoiceBlock } from "../../chain/fork-choice/types.ts";
import type { DutyPlan } from "../validators/duty-plan.ts";
import { isInShare } from "./even-share.ts";
import type { DevTime } from "./time.ts";

/** Everybody votes once an epoch, so that the votes of the old branch are outnumbered well before, if they ever are. */
const MOST_REORG_SLOTS = 4 * SLOTS_PER_EPOCH;

interface DevBranchesParts {
  chain: BeaconChain;
  time: DevTime;
}

interface Branches {
  ancestor: ForkChoiceBlock;
  /** The last block of each; that of the new one is the ancestor until it has one. */
  tips: Record<BranchName, ForkChoiceBlock>;
}

/** Makes branches by what validators build on and vote for. Which one the head is on, fork choice decides. */
export class DevBranches implements BranchControl {
  readonly #parts: DevBranchesParts;
  #plan: DutyPlan | undefined;
  #branches: Branches | undefined;

  constructor(parts: DevBranchesParts) {
    this.#parts = parts;
  }

  /** What the validators are to do in the slot that passes now; undefined when they are to follow the head. */
  get plan(): DutyPlan | undefined {
    return this.#plan;
  }

  reorg(depth: number, signal?: AbortSignal): Promise<Reorg> {
    const { chain, time } = this.#parts;
    return time.atRest(async () => {
      await chain.refreshHead();
      const oldHead = chain.head;
      const commonAncestor = this.#blockBeforeHead(depth);
      let newHead = commonAncestor;
      for (let slots = 1; slots <= MOST_REORG_SLOTS && signal?.aborted !== true; slots++) {
        newHead = await this.#grow(newHead, {});
        if (newHead.root !== commonAncestor.root && chain.head.root === newHead.root) {
          return { oldHead, newHead, commonAncestor, slots };
        }
      }
      throw ControlRefusal.against(
        `The new branch, of which the last block is ${newHead.root} of slot ${newHead.slot}, did not become the head by slot ` +
          `${chain.clock.currentSlot}: too few of those vote for it who are online.`,
      );
    });
  }

  fork({ depth, newShare, slots, signal }: Parameters<BranchControl["fork"]>[0]): Promise<Fork> {
    const { chain, time } = this.#parts;
    return time.atRest(async () => {
      await chain.refreshHead();
      const branches = (depth === undefined ? this.#lastBranches() : undefined) ?? this.#begin(depth ?? 1);
      this.#branches = branches;
      const { tips } = branches;
      for (let passed = 0; passed < slots && signal?.aborted !== true; passed++) {
        const [built, other]: [BranchName, BranchName] =
          tips.new.slot <= tips.old.slot ? ["new", "old"] : ["old", "new"];
        const otherShare = other === "new" ? newShare : 1 - newShare;
        const isBy = (voter: number) => isInShare(voter, newShare) === (other === "new");
        const dissent = otherShare > 0 ? { root: tips[other].root, isBy } : undefined;
        tips[built] = await this.#grow(tips[built], { dissent });
      }
      return this.#told(branches);
    });
  }

  /** Goes through a slot in which the proposer builds on the block. Returns what it built, or the block when it built nothing. */
  async #grow(parent: ForkChoiceBlock, plan: DutyPlan): Promise<ForkChoiceBlock> {
    const { chain, time } = this.#parts;
    this.#plan = { ...plan, parentRoot: parent.root };
    try {
      await time.passSlot();
    } finally {
      this.#plan = undefined;
    }
    const { forkChoice, clock } = chain;
    return forkChoice.blocksAtSlot(clock.currentSlot).find(({ parentRoot }) => parentRoot === parent.root) ?? parent;
  }

  /** Fork choice never leaves a justified block, nor one that will count as justified when the epoch is over. */
  #blockBeforeHead(depth: number): ForkChoiceBlock {
    const { forkChoice, head } = this.#parts.chain;
    const kept = [forkChoice.justified.root, forkChoice.unrealizedJustified.root];
    let blocksAbove = 0;
    for (const block of forkChoice.ancestors(head.root)) {
      if (blocksAbove === depth) return block;
      if (kept.includes(block.root)) break;
      blocksAbove++;
    }
    const asked = depth === 1 ? "The last block" : `The last ${depth} blocks`;
    const possible =
      blocksAbove === 0 ? "none can be now, since the head is" : `at most ${blocksAbove} can be now, those after`;
    throw ControlRefusal.against(`${asked} cannot be replaced: ${possible} the justified block.`);
  }

  #begin(depth: number): Branches {
    const ancestor = this.#blockBeforeHead(depth);
    return { ancestor, tips: { old: this.#parts.chain.head, new: ancestor } };
  }

  /** Undefined when there are none, or fork choice has decided for one of them for good. */
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

  #told({ ancestor, tips }: Branches): Fork {
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
