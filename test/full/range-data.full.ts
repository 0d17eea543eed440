import "../../src/sync/range-data.test.ts";
