import "../../src/dev/genesis.test.ts";
