import "./checkpoint-start.test.ts";
