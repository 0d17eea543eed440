import "../../src/chain/states/state-patch.test.ts";
