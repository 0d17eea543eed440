import "./pools.test.ts";
