import "../../src/chain/pools/attestation-packing.test.ts";
