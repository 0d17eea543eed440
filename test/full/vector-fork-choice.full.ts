import "../vectors/fork-choice.test.ts";
