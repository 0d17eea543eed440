import { createHash } from "node:crypto";
import type { ContainerType, Type } from "@chainsafe/ssz";
import { ForkName } from "@lodestar/params";
import { ssz, sszTypesFor } from "@lodestar/types";
import type { ValidatorKey } from "./keys.ts";
import type { RpcClient } from "./rpc-client.ts";

const { phase0, altair, bellatrix, capella, deneb, electra, fulu } = ForkName;
const FORKS = [phase0, altair, bellatrix, capella, deneb, electra, fulu] as const;
type Fork = `${(typeof FORKS)[number]}`;

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex.slice(2), "hex"));

/** Chain parameters from the node that signing requires. */
export class ChainFacts {
  readonly #spec: Record<string, string>;
  readonly #genesisValidatorsRoot: Uint8Array;

  static async ask(rpc: RpcClient): Promise<ChainFacts> {
    const spec = await rpc.call<Record<string, string>>("get_v1_config_spec");
    const genesis = await rpc.call<{ genesis_validators_root: string }>("get_v1_beacon_genesis");
    return new ChainFacts(spec, bytes(genesis.genesis_validators_root));
  }

  private constructor(spec: Record<string, string>, genesisValidatorsRoot: Uint8Array) {
    this.#spec = spec;
    this.#genesisValidatorsRoot = genesisValidatorsRoot;
  }

  number(name: string): number {
    return Number(this.#value(name));
  }

  epochOf(slot: number): number {
    return Math.floor(slot / this.number("SLOTS_PER_EPOCH"));
  }

  has(fork: Fork, slot: number): boolean {
    return fork === "phase0" || Number(this.#value(`${fork.toUpperCase()}_FORK_EPOCH`)) <= this.epochOf(slot);
  }

  /** Types of the slot's fork. */
  typesAt(slot: number) {
    return sszTypesFor(this.#forkAt(slot));
  }

  /** Signs in the domain of the slot's fork. Returns hex. */
  sign<T>(key: ValidatorKey, domain: string, slot: number, type: Type<T>, message: T): string {
    return key.secretKey.sign(this.#signingRoot(domain, slot, type.hashTreeRoot(message))).toHex();
  }

  /** Like `sign`, for a message in JSON. */
  signJson(key: ValidatorKey, domain: string, slot: number, type: unknown, json: unknown): string {
    const container = type as ContainerType<Record<string, never>>;
    return this.sign(key, domain, slot, container, container.fromJson(json));
  }

  #signingRoot(domain: string, slot: number, objectRoot: Uint8Array): Uint8Array {
    const fork = this.#forkAt(slot);
    const version = this.#value(fork === "phase0" ? "GENESIS_FORK_VERSION" : `${fork.toUpperCase()}_FORK_VERSION`);
    const forkDataRoot = ssz.phase0.ForkData.hashTreeRoot({
      currentVersion: bytes(version),
      genesisValidatorsRoot: this.#genesisValidatorsRoot,
    });
    const domainBytes = Buffer.concat([bytes(this.#value(domain)), forkDataRoot.subarray(0, 28)]);
    return ssz.phase0.SigningData.hashTreeRoot({ objectRoot, domain: new Uint8Array(domainBytes) });
  }

  #forkAt(slot: number) {
    return FORKS.findLast((fork) => this.has(fork, slot)) ?? phase0;
  }

  #value(name: string): string {
    const value = this.#spec[name];
    if (value === undefined) throw new Error(`The node's specification has no ${name}.`);
    return value;
  }
}

/** True if a selection proof selects one of `modulo` (phase0/validator.md, is_aggregator). */
export function isSelected(proof: string, modulo: number): boolean {
  const digest = createHash("sha256").update(bytes(proof)).digest();
  return digest.readBigUInt64LE(0) % BigInt(Math.max(1, Math.floor(modulo))) === 0n;
}
