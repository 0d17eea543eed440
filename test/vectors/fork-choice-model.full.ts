import "./fork-choice-model.test.ts";
