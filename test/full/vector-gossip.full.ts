import "../vectors/gossip.test.ts";
