import "../../src/chain/validation/sidecar.test.ts";
