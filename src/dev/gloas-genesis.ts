import type { ChainConfig } from "@lodestar/config";
import { FAR_FUTURE_EPOCH, GENESIS_EPOCH, MIN_DEPOSIT_AMOUNT, PAYLOAD_BUILDER_VERSION } from "@lodestar/params";
import type { BeaconStateGloas, CachedBeaconStateFulu } from "@lodestar/state-transition";
import { upgradeStateToGloas } from "@lodestar/state-transition/slot";
import { ssz } from "@lodestar/types";
import { builderKeys } from "./builder-keys.ts";
import { derivedAddress } from "./genesis-deposits.ts";
import type { GenesisBuilders } from "./genesis-parameters.ts";
import { InvalidChainError } from "./invalid-chain-error.ts";

const GWEI_PER_ETHER = 1e9;
/** In Gwei. Sums of balances up to this value stay below 2^53. */
const LARGEST_BALANCE = 1_000_000 * GWEI_PER_ETHER;

/** Returns the gloas genesis state: that of fulu, upgraded in epoch 0. */
export function gloasGenesis(
  fulu: CachedBeaconStateFulu,
  { GLOAS_FORK_VERSION }: ChainConfig,
  builders: GenesisBuilders | undefined,
): BeaconStateGloas {
  const state = upgradeStateToGloas(fulu);
  state.fork = ssz.phase0.Fork.toViewDU({
    previousVersion: GLOAS_FORK_VERSION,
    currentVersion: GLOAS_FORK_VERSION,
    epoch: GENESIS_EPOCH,
  });
  state.genesisValidatorsRoot = state.validators.hashTreeRoot();
  if (builders) state.builders = ssz.gloas.Builders.toViewDU(genesisBuilders(builders));

  // The genesis block has no envelope, so it counts as a block whose payload was withheld: its bid builds on block 0 of
  // the execution chain, and has no block of its own.
  const bid = ssz.gloas.ExecutionPayloadBid.toViewDU({
    ...state.latestExecutionPayloadBid.toValue(),
    parentBlockHash: state.latestBlockHash,
    blockHash: ssz.Bytes32.defaultValue(),
  });
  state.latestExecutionPayloadBid = bid;
  const body = ssz.gloas.BeaconBlockBody.defaultValue();
  body.signedExecutionPayloadBid.message = bid.toValue();
  state.latestBlockHeader = ssz.phase0.BeaconBlockHeader.toViewDU({
    ...ssz.phase0.BeaconBlockHeader.defaultValue(),
    bodyRoot: ssz.gloas.BeaconBlockBody.hashTreeRoot(body),
  });
  state.commit();
  return ssz.gloas.BeaconState.getViewDU(state.node);
}

/** Builders are active once epoch 1 is finalized (gloas/beacon-chain.md, is_active_builder). */
function genesisBuilders({ count, balance }: GenesisBuilders) {
  if (!Number.isSafeInteger(balance) || balance < MIN_DEPOSIT_AMOUNT || balance > LARGEST_BALANCE) {
    throw new InvalidChainError(
      `Invalid balance of ${balance / GWEI_PER_ETHER} ETH. Builders start with ` +
        `${MIN_DEPOSIT_AMOUNT / GWEI_PER_ETHER} to ${LARGEST_BALANCE / GWEI_PER_ETHER} ETH, in whole Gwei.`,
    );
  }
  const keys = builderKeys(count);
  return keys.indices.map((index) => {
    const pubkey = keys.publicKey(index)!;
    return {
      pubkey,
      version: PAYLOAD_BUILDER_VERSION,
      executionAddress: derivedAddress(pubkey),
      balance,
      depositEpoch: GENESIS_EPOCH,
      withdrawableEpoch: FAR_FUTURE_EPOCH,
    };
  });
}
