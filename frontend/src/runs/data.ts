// What the server tells about runs and sweeps.
import type { Step } from "../common/step";

/** A run as the list has it. One that cannot be read has an error and nothing else. */
export interface ListedRun {
  id: string;
  name: string;
  changed: number;
  error: string | null;
  game?: string;
  agent?: string;
  module?: string;
  model?: string;
  seed?: number | null;
  attempt?: number;
  is_complete?: boolean;
  won?: boolean;
  ended_by?: string | null;
  score?: number | null;
  max_score?: number | null;
  moves?: number | null;
  decisions?: number | null;
  tokens?: number | null;
  cost_usd?: number | null;
  seconds?: number | null;
  precision?: number | null;
  recall?: number | null;
}

export interface ListedSweep {
  id: string;
  name: string;
  finished: number;
  error: string | null;
}

export interface Listing {
  folder: string;
  runs: ListedRun[];
  sweeps: ListedSweep[];
}

/** A memory of the server; those of runs have keys that begin with "run-". */
export interface ListedMemory {
  key: string;
  label: string;
  exists: boolean;
}

/** Where two runs part: the first step that differs, and by what; no step when they are the same. */
export interface Parting {
  step: number | null;
  by: "action" | "observation" | "end" | null;
}

/** What a memory held before and after a step. */
export interface HeldTold {
  before: number;
  after: number;
  statements: { text: string; change: "began" | "ended" | "" }[];
  left_out: number;
}

/** A text as it was read, sentence by sentence. */
export interface ReadText {
  id: string;
  at: number;
  source: string;
  speaker: string;
  reader: string;
  sentences: { text: string; statements: { id: string; text: string; kind: string }[] }[];
  elsewhere: { id: string; text: string; kind: string }[];
  ended: { id: string; text: string; reason: string }[];
}

export interface TextsTold {
  offset: number;
  total: number;
  texts: ReadText[];
}

/** Figures at each step. */
export interface Curves {
  turn: number[];
  score: number[];
  facts: number[];
  vertices: number[];
  learned: number[];
  ended: number[];
  tokens: number[];
}

/** The figures of a run that came to its end; an empty object for any other. */
export interface RunSummary {
  won?: boolean;
  ended_by?: string | null;
  score?: number;
  best_score?: number;
  max_score?: number | null;
  moves?: number;
  decisions?: number;
  returns?: number;
  optimal_moves?: number | null;
  unparsable?: number;
  model_calls?: number;
  prompt_tokens?: number;
  completion_tokens?: number;
  cost_usd?: number | null;
  seconds?: number;
  audit?: { precision: number; recall: number } | null;
}

export interface RunTold {
  id: string;
  name: string;
  /** The key of its memory, if there is one in its folder. */
  memory: string | null;
  header: {
    game?: string;
    agent?: string;
    seed?: number;
    settings?: { memory?: string; model?: string; attempt?: number };
  };
  summary: RunSummary;
  steps: number;
  curves: Curves;
}

export interface StepsTold {
  offset: number;
  total: number;
  steps: Step[];
}

/** A question to the model, and its answer or the reason why there is none. */
export interface Call {
  purpose: string;
  messages: { role: string; content: string }[];
  answer?: string;
  was_cut_off?: boolean;
  prompt_tokens?: number;
  completion_tokens?: number;
  error?: string;
}

/** A mean over runs with its 95 % interval. */
export interface Spread {
  mean: number;
  interval: [number, number];
}

/** The figures of the runs of one game by one agent with one memory module. */
export interface Group {
  game: string;
  agent: string;
  memory: string | null;
  model: string | null;
  runs: number;
  wins: number;
  returns: number;
  score: Spread | null;
  best_score: Spread | null;
  normalized: Spread | null;
  best_normalized: Spread | null;
  median_moves: number;
  median_decisions: number;
  median_ratio: number | null;
  model_calls: number;
  tokens: Spread | null;
  dollars: Spread | null;
  seconds: Spread | null;
  audit: { precision: number; recall: number; stale_steps: number } | null;
  /** The mean score after so many moves, with its 95 % interval. */
  curve: { moves: number[]; mean: number[]; low: number[]; high: number[] } | null;
}

export interface SweepTold {
  id: string;
  name: string;
  groups: Group[];
  /** How many of the runs were played by people, who play the same games in the same folder. */
  people: number;
  /** False when the package that computes the intervals is not installed: then there are no groups either. */
  has_intervals: boolean;
  /** The command that installs what computes them. */
  install: string;
  runs: ListedRun[];
}
