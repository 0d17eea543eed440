import "./rewards.test.ts";
