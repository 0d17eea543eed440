import { testArbitraryCalls } from "./arbitrary-calls.ts";

testArbitraryCalls({ listsPerChain: 6000, seed: Number(process.env.FANAL_TEST_SEED ?? Date.now() % 2 ** 31) });
