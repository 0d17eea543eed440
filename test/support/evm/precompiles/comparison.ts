import type { Common } from "@ethereumjs/common";
import { EVM, EVMMockBlockchain, NobleBN254, type PrecompileFunc } from "@ethereumjs/evm";
import type { KZG } from "@ethereumjs/util";
import { KZG as NobleKzg } from "micro-eth-signer/kzg.js";
import { createEvmCrypto } from "../../../../src/evm/crypto.ts";
import { ChainRules } from "../../../../src/evm/execution/rules.ts";
import { WorldState } from "../../../../src/evm/state/world-state.ts";
import { hexOf, optionsOf } from "../evm.ts";

const GENERATOR_G1 =
  "0x97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb";
const SETUP_G2 = [
  "0x93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e" +
    "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8",
  "0xb5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72" +
    "185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2",
];

/** Bounds the rounds of BLAKE2 that an input may ask for. */
const GAS_LIMIT = 1_000_000n;

export interface Outcome {
  gasUsed: bigint;
  output: string;
  hasFailed: boolean;
}

export type RunPrecompile = (address: number, data: Uint8Array, gasLimit?: bigint) => Promise<Outcome>;

/** Returns functions that run a precompile of Osaka: ours, and that of the library in JavaScript. */
export async function openPrecompiles(): Promise<{ ours: RunPrecompile; library: RunPrecompile }> {
  const [own, other] = [await createEvmCrypto(), await createEvmCrypto()];
  const commonOf = ({ custom, ...crypto }: typeof own): Common =>
    new ChainRules(optionsOf("osaka"), { ...crypto, custom }).at(0).common;
  // The only parts of the setup that verify a proof.
  const noble = new NobleKzg({ g1_lagrange: [GENERATOR_G1, GENERATOR_G1], g2_monomial: SETUP_G2 });
  other.custom.kzg = noble as unknown as KZG;
  const { bls, bn254 } = own.precompiles;
  const customPrecompiles = own.precompiles.replaced(commonOf(own));
  const parts = { stateManager: new WorldState(own.keccak), blockchain: new EVMMockBlockchain() };
  return {
    ours: runner(new EVM({ ...parts, common: commonOf(own), bls, bn254, customPrecompiles })),
    library: runner(new EVM({ ...parts, common: commonOf(other), bn254: new NobleBN254() })),
  };
}

function runner(evm: EVM): RunPrecompile {
  return async (address, data, gasLimit = GAS_LIMIT) => {
    const precompile: PrecompileFunc = evm.precompiles.get(address.toString(16).padStart(40, "0"))!;
    const result = await precompile({ data, gasLimit, common: evm.common, _EVM: evm });
    return {
      gasUsed: result.executionGasUsed,
      output: hexOf(result.returnValue),
      hasFailed: result.exceptionError !== undefined,
    };
  };
}
