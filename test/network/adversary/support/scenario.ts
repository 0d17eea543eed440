import { ZERO_HASH } from "@lodestar/params";
import type { fulu, Slot } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { expect, vi } from "vitest";
import { asPubsub, type Pubsub } from "../../../../src/network/gossip/pubsub.ts";
import type { Standing } from "../../../../src/network/peers/peer-scores.ts";
import { range, TestNetwork, type TestNetworkOptions, until } from "../../support/test-network.ts";
import type { TestNode, TestNodeOptions } from "../../support/test-node.ts";
import { Adversary, type AdversaryOptions } from "./adversary.ts";

const VALIDATORS = 16;
const COMPLAINT = / (WARN|ERROR|FATAL) /;

interface ScenarioOptions {
  forks?: TestNetworkOptions["forks"];
  honest?: Partial<Pick<TestNodeOptions, "supernode" | "blobs">>;
  victim?: Partial<Pick<TestNodeOptions, "targetPeers" | "discovery" | "requestLimits" | "syncLimits">>;
  /** Length of the chain when the victim starts. */
  historySlots?: Slot;
  /** True if the victim does not know the honest node yet. */
  isAlone?: boolean;
}

/** A node that follows an honest one while others attack it. The test advances the clock. */
export class Scenario {
  readonly network: TestNetwork;
  readonly honest: TestNode;
  readonly victim: TestNode;
  readonly #ends: (() => Promise<void>)[];
  #advancing: Promise<void> = Promise.resolve();

  static async begin(options: ScenarioOptions = {}): Promise<Scenario> {
    const { forks, historySlots = 3, isAlone } = options;
    const ends: (() => Promise<void>)[] = [];
    const network = new TestNetwork({ validators: VALIDATORS, forks, cleanUp: (work) => ends.push(work) });
    const honest = await network.add(range(0, VALIDATORS), [], { timing: "lockstep", ...options.honest });
    await network.clock.advanceTo(historySlots);
    const victim = await network.add([], isAlone ? [] : [honest], options.victim);
    const scenario = new Scenario(network, honest, victim, ends);
    if (isAlone) return scenario;
    await network.untilConnected();
    await scenario.expectFollowing();
    return scenario;
  }

  private constructor(network: TestNetwork, honest: TestNode, victim: TestNode, ends: (() => Promise<void>)[]) {
    this.network = network;
    this.honest = honest;
    this.victim = victim;
    this.#ends = ends;
  }

  get pubsub(): Pubsub {
    return asPubsub(this.victim.networking.network.host.services.pubsub);
  }

  /** A connected peer without a handshake. */
  async stranger(options: Partial<AdversaryOptions> = {}): Promise<Adversary> {
    const adversary = await Adversary.open({ status: () => statusOf(this.honest), ...options });
    this.#ends.unshift(() => adversary.close());
    return adversary;
  }

  /** An adversary that the victim considers a peer of its chain. */
  async adversary(options: Partial<AdversaryOptions> = {}): Promise<Adversary> {
    const adversary = await this.stranger(options);
    await this.join(adversary);
    return adversary;
  }

  async join(adversary: Adversary): Promise<void> {
    const { peers } = this.victim.networking.network;
    await adversary.dial(this.victim.address);
    await adversary.introduce();
    await until(
      (wake) => peers.onChange(wake),
      () => peers.list().some(({ peerId }) => peerId === adversary.peerId),
    );
  }

  score(adversary: Adversary): number {
    return this.victim.networking.network.peers.scores.score(adversary.peerId);
  }

  standing(adversary: Adversary): Standing {
    return this.victim.networking.network.peers.scores.standing(adversary.peerId);
  }

  isConnected(adversary: Adversary): boolean {
    const connections = this.victim.networking.network.host.getConnections();
    return connections.some(({ remotePeer }) => remotePeer.toString() === adversary.peerId);
  }

  /** Expects that the next block of the honest node becomes the victim's head. */
  async expectFollowing(): Promise<void> {
    this.#advancing = this.#advancing.then(async () => {
      const { clock } = this.network;
      await clock.advanceTo(clock.currentSlot + 1);
      await this.network.untilSameHead([this.honest, this.victim]);
      expect(this.victim.chain.head.slot).toBe(clock.currentSlot);
    });
    await this.#advancing;
  }

  /** Expects that the victim has penalized and disconnected the peer, and refuses it. */
  async expectSentAway(adversary: Adversary): Promise<void> {
    await eventually(() => expect(this.isConnected(adversary)).toBe(false));
    expect(this.score(adversary)).toBeLessThan(0);
    expect(this.standing(adversary)).not.toBe("good");
    const opened: string[] = [];
    const onOpen = ({ detail }: CustomEvent<{ remotePeer: { toString(): string } }>) =>
      opened.push(detail.remotePeer.toString());
    const { host } = this.victim.networking.network;
    host.addEventListener("connection:open", onOpen);
    const connection = await adversary.dial(this.victim.address).catch(() => undefined);
    await eventually(() => expect(connection?.status ?? "closed").not.toBe("open"));
    host.removeEventListener("connection:open", onOpen);
    expect(opened).not.toContain(adversary.peerId);
  }

  /** Advances to a slot without duties, for the adversary to use. */
  async skipSlot(): Promise<Slot> {
    const { clock } = this.network;
    const resting = vi.spyOn(this.honest.networking.sync, "isSyncing", "get").mockReturnValue(true);
    await clock.advanceTo(clock.currentSlot + 1);
    resting.mockRestore();
    return clock.currentSlot;
  }

  /** Reasons why the victim rejected gossip of the peer. */
  refusals(adversary: Adversary): Set<string> {
    const lines = this.victim.log.filter((line) => line.includes(adversary.peerId));
    return new Set(lines.flatMap((line) => / Rejected .*reason=(\S+)/.exec(line)?.[1] ?? []));
  }

  /** Number of invalid messages that the victim's gossipsub counted for the peer. */
  invalidMessages(adversary: Adversary): number {
    const topics = this.pubsub.dumpPeerScoreStats()[adversary.peerId]?.topics ?? {};
    return Object.values(topics).reduce((sum, topic) => sum + topic.invalidMessageDeliveries, 0);
  }

  /** Warnings and errors of the victim. */
  complaints(): string[] {
    return this.victim.log.filter((line) => COMPLAINT.test(line));
  }

  async end(): Promise<void> {
    for (const end of this.#ends) await end();
  }
}

/** Status of an honest peer on the node's chain. */
export function statusOf({ chain: { head, forkChoice, config, clock } }: TestNode): fulu.Status {
  const { epoch, root } = forkChoice.finalized;
  return {
    forkDigest: config.forkBoundary2ForkDigest(config.getForkBoundaryAtEpoch(clock.currentEpoch)),
    finalizedRoot: epoch === 0 ? ZERO_HASH : fromHex(root),
    finalizedEpoch: epoch,
    headRoot: fromHex(head.root),
    headSlot: head.slot,
    earliestAvailableSlot: 0,
  };
}

/** Waits for the victim with a generous timeout. */
export function eventually(assertion: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(assertion, { timeout: 100_000, interval: 10 });
}
