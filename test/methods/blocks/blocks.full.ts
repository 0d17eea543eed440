import "./blocks.test.ts";
