import "./block.test.ts";
