import type { BeaconConfig } from "@lodestar/config";
import { ForkSeq } from "@lodestar/params";
import { type gloas, type RootHex, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { LruMap } from "../../collections/lru-map.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { DatabaseCorruptError } from "../../db/errors.ts";
import { hasEnvelope, type NewPayload, payloadInBlock, payloadInEnvelope } from "./new-payload.ts";

const RECENT_PAYLOADS = 32;

/** The verified payloads of blocks since gloas, in their signed envelopes, by block root. */
export class PayloadStore {
  readonly #config: BeaconConfig;
  readonly #db: BeaconDb;
  readonly #recent = new LruMap<RootHex, gloas.SignedExecutionPayloadEnvelope>(RECENT_PAYLOADS);

  constructor({ config, db }: { config: BeaconConfig; db: BeaconDb }) {
    this.#config = config;
    this.#db = db;
  }

  /** Caches an imported payload. */
  cache(root: RootHex, signed: gloas.SignedExecutionPayloadEnvelope): void {
    this.#recent.set(root, signed);
  }

  /** Clears the cache, so only payloads in the database are found. */
  clear(): void {
    this.#recent.clear();
  }

  /** Returns null if the block has no payload, or none was verified. Throws a `DatabaseCorruptError` if it is damaged. */
  async get(root: RootHex): Promise<gloas.SignedExecutionPayloadEnvelope | null> {
    const recent = this.#recent.get(root);
    if (recent) return recent;
    return storedEnvelope(this.#db, root);
  }

  async has(root: RootHex): Promise<boolean> {
    return this.#recent.get(root) !== undefined || this.#db.payloads.has(root);
  }

  /**
   * Returns the payload of a block of any fork, which is part of the block before gloas. Returns null if there is none,
   * or if none was verified.
   */
  async payloadOf(signed: SignedBeaconBlock, root: RootHex): Promise<NewPayload | null> {
    const { slot } = signed.message;
    if (hasEnvelope(this.#config, slot)) {
      const envelope = await this.get(root);
      return envelope && payloadInEnvelope(this.#config, signed, envelope.message);
    }
    return this.#config.getForkSeq(slot) >= ForkSeq.bellatrix ? payloadInBlock(this.#config, signed) : null;
  }
}

/** Reads a stored envelope; null if there is none. Throws a `DatabaseCorruptError` if it is damaged. */
export async function storedEnvelope(
  db: BeaconDb,
  root: RootHex,
): Promise<gloas.SignedExecutionPayloadEnvelope | null> {
  const bytes = await db.payloads.get(root);
  return bytes && readStoredEnvelope(db, root, bytes);
}

/** Decodes a stored envelope. Throws a `DatabaseCorruptError` if it does not belong to the block. */
function readStoredEnvelope(
  db: { path: string },
  root: RootHex,
  bytes: Uint8Array,
): gloas.SignedExecutionPayloadEnvelope {
  const signed = deserialize(bytes);
  if (signed === undefined) throw new DatabaseCorruptError(db.path, `the payload of block ${root} cannot be decoded`);
  const actualRoot = toRootHex(signed.message.beaconBlockRoot);
  if (actualRoot === root) return signed;
  throw new DatabaseCorruptError(db.path, `the payload stored for block ${root} is that of block ${actualRoot}`);
}

function deserialize(bytes: Uint8Array): gloas.SignedExecutionPayloadEnvelope | undefined {
  try {
    return ssz.gloas.SignedExecutionPayloadEnvelope.deserialize(bytes);
  } catch {
    return undefined;
  }
}
