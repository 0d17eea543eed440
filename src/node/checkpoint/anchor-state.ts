import { type BeaconConfig, type ChainForkConfig, createBeaconConfig } from "@lodestar/config";
import type { BeaconStateAllForks } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { readState } from "../../chain/states/read-state.ts";
import { messageOf } from "../../http-client/http-error.ts";
import type { Logger } from "../../log/logger.ts";
import { Progress } from "../../log/progress.ts";
import { StartError } from "../start-error.ts";
import { type ReadLimits, readSsz } from "./read-ssz.ts";

/** SSZ of BeaconState: genesis time (8 bytes), genesis validators root (32), slot (8), fork (16), … */
const SLOT_OFFSET = 40;
const FORK_OFFSET = 48;
const MIN_STATE_BYTES = FORK_OFFSET + 16;
/** A state with a million validators is about 250 MB. The server may take a long time to send the first byte. */
const STATE_LIMITS: ReadLimits = { idleMs: 60_000, maxBytes: 2 * 1024 ** 3 };

export interface LoadedState {
  state: BeaconStateAllForks;
  /** Serialized state. */
  bytes: Uint8Array;
  config: BeaconConfig;
}

interface LoadOptions {
  logger: Logger;
  /** Cancels loading the state. */
  signal?: AbortSignal;
  /** Overrides of the defaults. */
  limits?: Partial<ReadLimits>;
}

/** Loads an SSZ state from a file or URL and checks that its fork version belongs to the network. */
export async function loadState(source: string, config: ChainForkConfig, options: LoadOptions): Promise<LoadedState> {
  const bytes = await read(source, options);
  const state = await decode(source, bytes, config, options);
  return { state, bytes, config: createBeaconConfig(config, state.genesisValidatorsRoot) };
}

async function read(source: string, { logger, signal, limits }: LoadOptions): Promise<Uint8Array> {
  const progress = new Progress({ message: "Downloading state", logger });
  const onProgress = (received: number, total: number | undefined) =>
    progress.report(received, total, (perSecond) => ({
      mib: toMib(received),
      ofMib: total && toMib(total),
      mibPerSecond: perSecond && toMib(perSecond),
    }));
  try {
    const bytes = await readSsz(source, { ...STATE_LIMITS, ...limits, signal, onProgress });
    progress.finish();
    return bytes;
  } catch (error) {
    throw unreadable(source, messageOf(error), error);
  }
}

const toMib = (bytes: number): number => Number((bytes / 1024 ** 2).toFixed(1));

async function decode(
  source: string,
  bytes: Uint8Array,
  config: ChainForkConfig,
  { logger, signal }: LoadOptions,
): Promise<BeaconStateAllForks> {
  if (bytes.length < MIN_STATE_BYTES) {
    throw unreadable(source, `it has only ${bytes.length} bytes, too few for a beacon state`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const slot = Number(view.getBigUint64(SLOT_OFFSET, true));
  const { currentVersion } = ssz.phase0.Fork.deserialize(bytes.subarray(FORK_OFFSET, MIN_STATE_BYTES));
  if (!config.forksAscendingEpochOrder.some(({ version }) => Buffer.compare(version, currentVersion) === 0)) {
    throw unreadable(
      source,
      `its fork version ${toHex(currentVersion)} is unknown to network "${config.CONFIG_NAME}"; it belongs to another network, or is not a state`,
    );
  }
  const expectedVersion = config.getForkVersion(slot);
  const fork = config.getForkName(slot);
  if (Buffer.compare(currentVersion, expectedVersion) !== 0) {
    throw unreadable(
      source,
      `its fork version is ${toHex(currentVersion)}, but network "${config.CONFIG_NAME}" is in ${fork} ` +
        `(${toHex(expectedVersion)}) at its slot ${slot}`,
    );
  }
  const progress = new Progress({ message: "Decoding state", logger });
  try {
    const state = await readState(config.getForkTypes(slot).BeaconState, bytes, (done, total) => {
      signal?.throwIfAborted();
      progress.report(done, total);
    });
    progress.finish();
    return state;
  } catch (error) {
    signal?.throwIfAborted();
    throw unreadable(source, `it is not a complete ${fork} state (${messageOf(error)})`, error);
  }
}

function unreadable(source: string, reason: string, cause?: unknown): StartError {
  return new StartError("unreadableInput", `The state ${source} cannot be used: ${reason}.`, cause);
}
