import { getNode, type Node } from "@chainsafe/persistent-merkle-tree";
import type { CompositeTypeAny, ContainerType } from "@chainsafe/ssz";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { SingleFlight } from "../async/single-flight.ts";
import { acquireBuffer, releaseBuffer } from "../json/buffer-pool.ts";
import { SharedStream } from "../json/shared-stream.ts";
import { streamSszJson } from "../json/ssz-json-stream.ts";
import type { StatePart } from "../json/writers/state-writer.ts";
import { streamSsz } from "../ssz/streaming.ts";
import { OFFSET_BYTES, serializedLength } from "../ssz/tree.ts";
import type { RegistrySnapshots } from "./registry-snapshots.ts";

type State = CachedBeaconStateAllForks;
/** Since gloas, the type is a progressive container, which has the same entries. */
type StateType = ContainerType<Record<string, CompositeTypeAny>>;
type Entry = StateType["fieldsEntries"][number];

/** Short pieces are merged up to this size. */
const PART_BYTES = 256 * 1024;

/**
 * Streams whole states in a form that another thread can write. Only the small fields are written here. Validators and
 * balances, which make up most of a large state, are read from shared memory.
 */
export class StateStreams {
  readonly #snapshots: RegistrySnapshots;
  readonly #json = new SingleFlight<Node, StatePart[]>();
  readonly #ssz = new SingleFlight<Node, StatePart[]>();

  constructor(snapshots: RegistrySnapshots) {
    this.#snapshots = snapshots;
  }

  async json(state: State, signal?: AbortSignal): Promise<AsyncIterable<Buffer>> {
    state.commit();
    const type = state.type as unknown as StateType;
    const parts = await this.#json.run(state.node, signal, (throwIfAborted) =>
      this.#jsonParts(type, state, throwIfAborted),
    );
    return SharedStream.of({ writer: "state", input: parts });
  }

  async ssz(state: State, signal?: AbortSignal): Promise<AsyncIterable<Buffer>> {
    state.commit();
    const type = state.type as unknown as StateType;
    const parts = await this.#ssz.run(state.node, signal, (throwIfAborted) =>
      this.#sszParts(type, state, throwIfAborted),
    );
    return SharedStream.of({ writer: "state", input: parts });
  }

  async #jsonParts(type: StateType, state: State, throwIfAborted: () => void): Promise<StatePart[]> {
    const parts = new PartBuilder();
    for (const [index, { fieldName, fieldType, jsonKey, gindex }] of type.fieldsEntries.entries()) {
      throwIfAborted();
      parts.add(Buffer.from(`${index === 0 ? "{" : ","}${JSON.stringify(jsonKey)}:`));
      if (fieldName === "validators") {
        parts.put({ kind: "validators", chunks: await this.#snapshots.validators(state) });
      } else if (fieldName === "balances") {
        parts.put({ kind: "balances", chunks: await this.#snapshots.balances(state) });
      } else {
        await parts.addAll(streamSszJson(fieldType, getNode(state.node, gindex)), throwIfAborted);
      }
    }
    parts.add(Buffer.from("}"));
    return parts.end();
  }

  /** Returns the fixed-size fields, with offsets in place of the other fields, followed by the variable-size fields. */
  async #sszParts(type: StateType, state: State, throwIfAborted: () => void): Promise<StatePart[]> {
    const parts = new PartBuilder();
    const nodeOf = ({ gindex }: Entry) => getNode(state.node, gindex);
    const isFixed = ({ fieldType }: Entry) => fieldType.fixedSize !== null;
    const addField = (field: Entry) =>
      parts.addAll(streamSsz(field.fieldType, nodeOf(field), acquireBuffer), throwIfAborted);
    let offset = type.fieldsEntries.reduce((sum, { fieldType }) => sum + (fieldType.fixedSize ?? OFFSET_BYTES), 0);
    for (const field of type.fieldsEntries) {
      if (isFixed(field)) {
        await addField(field);
      } else {
        const bytes = Buffer.alloc(OFFSET_BYTES);
        bytes.writeUInt32LE(offset);
        parts.add(bytes);
        offset += serializedLength(field.fieldType, nodeOf(field));
      }
    }
    for (const field of type.fieldsEntries) {
      if (isFixed(field)) continue;
      const { fieldName } = field;
      if (fieldName === "validators") {
        parts.put({ kind: "bytes", chunks: await this.#snapshots.validators(state) });
      } else if (fieldName === "balances") {
        parts.put({ kind: "bytes", chunks: await this.#snapshots.balances(state) });
      } else {
        await addField(field);
      }
    }
    return parts.end();
  }
}

/** Builds a list of parts. Bytes between shared parts are copied to shared memory as well. */
class PartBuilder {
  readonly #parts: StatePart[] = [];
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;

  /** Adds bytes, which are copied by the next call at the latest. */
  add(bytes: Buffer): void {
    this.#gathered.push(bytes);
    this.#gatheredBytes += bytes.length;
    if (this.#gatheredBytes >= PART_BYTES) this.#flush();
  }

  async addAll(pieces: AsyncIterable<Buffer>, throwIfAborted: () => void): Promise<void> {
    for await (const piece of pieces) {
      throwIfAborted();
      this.add(piece);
      this.#flush();
      releaseBuffer(piece);
    }
  }

  put(part: StatePart): void {
    this.#flush();
    this.#parts.push(part);
  }

  end(): StatePart[] {
    this.#flush();
    return this.#parts;
  }

  #flush(): void {
    if (this.#gatheredBytes === 0) return;
    const chunk = new SharedArrayBuffer(this.#gatheredBytes);
    const bytes = new Uint8Array(chunk);
    let at = 0;
    for (const piece of this.#gathered) {
      bytes.set(piece, at);
      at += piece.length;
    }
    this.#parts.push({ kind: "bytes", chunks: [chunk] });
    this.#gathered = [];
    this.#gatheredBytes = 0;
  }
}
